"""Opens a data set in Spark, and runs the queries of the library on it."""

import json
import subprocess

from pyspark.sql import DataFrame, SparkSession

from .storage import Folder

#: The version of the schema that this package knows.
VERSION = 1


class Unreadable(Exception):
    """A folder that is no data set, is incomplete, or has a later version."""


def open_dataset(spark: SparkSession, folder: str) -> list[str]:
    """Registers each table of a data set as a temporary view, and returns their names.

    Raises `Unreadable` for a folder that `kinetoscope export parquet` did not write, did not finish, or that has a later version.
    """
    place = Folder(spark, folder)
    _check(place, folder)
    found = [name for name in place.names(folders_only=True) if not name.startswith(("_", "."))]
    for name in found:
        frame = spark.read.option("mergeSchema", "true").parquet(f"{folder.rstrip('/')}/{name}")
        # Spark guesses the types of the values in paths.
        frame = frame.withColumns({"run_id": frame["run_id"].cast("string"), "rank": frame["rank"].cast("bigint")})
        frame.createOrReplaceTempView(name)
    return found


def _check(place: Folder, folder: str) -> None:
    text = place.read("kinetoscope.json")
    if text is None:
        raise Unreadable(f"{folder} is not a data set: it has no kinetoscope.json")
    try:
        version = json.loads(text)["schema_version"]
    except (ValueError, KeyError) as error:
        raise Unreadable(f"{folder} is not a data set: {error}") from error
    if version > VERSION:
        raise Unreadable(f"{folder} has version {version} of the schema, and this package knows up to {VERSION}")
    parts = place.names("_unfinished")
    if parts:
        names = ", ".join(part.replace(",", "/") for part in parts)
        raise Unreadable(f"{folder} is incomplete: {names} was begun and not finished; export it again")


def queries(command: str = "kinetoscope") -> dict[str, str]:
    """Returns the texts of the queries of the library, by name, from the command."""
    done = subprocess.run([command, "sql", "--list", "--format", "json"], capture_output=True, text=True, check=True)
    return {row["name"]: row["sql"] for row in json.loads(done.stdout)["rows"]}


def run(spark: SparkSession, sql: str) -> DataFrame:
    """Runs a query on the views of the data set that was opened last."""
    return spark.sql(sql)

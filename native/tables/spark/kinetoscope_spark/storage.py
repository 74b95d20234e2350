"""Files on the file systems that Spark reads: local folders, HDFS, and object stores with the connectors of the cluster.

The command `kinetoscope` has its own access to object stores, with the feature `cloud`. It names Amazon's `s3://`, where Hadoop's
connector has `s3a://`.
"""

import os

from pyspark.sql import SparkSession


def is_address(path: str) -> bool:
    """Whether a path is an address such as `s3a://bucket/traces`, and not a local path."""
    return "://" in path


def for_command(path: str) -> str:
    """Returns a path as the command `kinetoscope` takes it."""
    if path.startswith("s3a://"):
        return "s3://" + path.removeprefix("s3a://")
    if path.startswith("file:/"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path if is_address(path) else os.path.abspath(path)


class Folder:
    """A folder on a file system of Hadoop."""

    def __init__(self, spark: SparkSession, path: str):
        self._spark = spark
        self._path = spark._jvm.org.apache.hadoop.fs.Path(path)
        self._system = self._path.getFileSystem(spark._jsc.hadoopConfiguration())

    def _at(self, name: str):
        return self._spark._jvm.org.apache.hadoop.fs.Path(self._path, name) if name else self._path

    def read(self, name: str) -> str | None:
        """Returns the text of a file, or `None` if it does not exist."""
        path = self._at(name)
        if not self._system.exists(path):
            return None
        return self._spark.read.text(path.toString(), wholetext=True).first()[0]

    def names(self, name: str = "", folders_only: bool = False) -> list[str]:
        """Returns the names of what is directly in it, or in a folder of it; none if that does not exist."""
        path = self._at(name)
        if not self._system.exists(path):
            return []
        found = self._system.listStatus(path)
        return sorted(one.getPath().getName() for one in found if one.isDirectory() or not folders_only)

    def files(self) -> list[str]:
        """Returns the addresses of all files below it."""
        found, files = self._system.listFiles(self._path, True), []
        while found.hasNext():
            files.append(found.next().getPath().toString())
        return sorted(files)

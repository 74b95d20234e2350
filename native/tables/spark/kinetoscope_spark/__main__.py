"""The command `kinetoscope-spark`."""

import argparse
import glob
import json
import os
import sys

from pyspark.sql import SparkSession

from . import Failed, Unreadable, export, open_dataset, queries
from .storage import Folder, is_address


def main(arguments: list[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    spark = SparkSession.builder.appName("kinetoscope").getOrCreate()
    try:
        return parsed.action(spark, parsed)
    except (Failed, Unreadable) as error:
        print(f"kinetoscope-spark: {error}", file=sys.stderr)
        return 2
    finally:
        spark.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kinetoscope-spark", description=__doc__)
    parser.add_argument("--kinetoscope", default="kinetoscope", help="the command on every executor")
    actions = parser.add_subparsers(required=True)
    exporting = actions.add_parser("export", help="write the tables of traces into a folder")
    exporting.add_argument("traces", nargs="+", help="files, folders and patterns")
    exporting.add_argument("--output", required=True, help="the folder, which all executors see")
    exporting.add_argument("--run-id", required=True, help="letters, digits, `.`, `_` and `-`")
    exporting.add_argument("--tasks", type=int, help="the number of tasks [default: one for each trace]")
    exporting.set_defaults(action=_export)
    querying = actions.add_parser("query", help="print the rows of a query as JSON")
    querying.add_argument("dataset")
    text = querying.add_mutually_exclusive_group(required=True)
    text.add_argument("--run", help="the name of a query of the library")
    text.add_argument("--sql", help="a query")
    querying.set_defaults(action=_query)
    return parser


def _export(spark: SparkSession, parsed: argparse.Namespace) -> int:
    paths = [path for argument in parsed.traces for path in _files(spark, argument)]
    exported = export(spark, paths, parsed.output, parsed.run_id, parsed.kinetoscope, parsed.tasks)
    print(f"kinetoscope-spark: {exported.traces} traces in {parsed.output}", file=sys.stderr)
    return 0


def _files(spark: SparkSession, argument: str) -> list[str]:
    if is_address(argument):
        return Folder(spark, argument).files()
    if os.path.isdir(argument):
        return [os.path.join(folder, name) for folder, _, names in os.walk(argument) for name in names]
    return glob.glob(argument) or [argument]


def _query(spark: SparkSession, parsed: argparse.Namespace) -> int:
    open_dataset(spark, parsed.dataset)
    sql = parsed.sql
    if sql is None:
        known = queries(parsed.kinetoscope)
        if parsed.run not in known:
            print(f"kinetoscope-spark: there is no query {parsed.run!r}: {', '.join(known)}", file=sys.stderr)
            return 2
        sql = known[parsed.run]
    for row in spark.sql(sql).collect():
        print(json.dumps(row.asDict(), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Exports traces as a Parquet data set, a task for each group of traces."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from .storage import for_command

#: The columns of a task: the path of a trace, and the rank if the trace does not state it.
TASK = "path string, rank bigint"
#: The columns of its result: the message of the command, and the error if it failed.
RESULT = "path string, message string, error string"


@dataclass(frozen=True)
class Exported:
    """What was exported: the number of traces."""

    traces: int


class Failed(Exception):
    """Traces that were not exported, each with the message of the command."""

    def __init__(self, errors: dict[str, str]):
        lines = [f"{path}: {error}" for path, error in sorted(errors.items())]
        super().__init__(f"{len(errors)} traces were not exported:\n" + "\n".join(lines))
        self.errors = errors


def export(
    spark: SparkSession,
    traces: Iterable[str],
    output: str,
    run_id: str,
    command: str = "kinetoscope",
    tasks: int | None = None,
) -> Exported:
    """Writes the tables of traces into the folder `output`.

    A trace that does not state its rank has the number of its place among the sorted paths. `tasks` is the number of tasks; by
    default each trace is one.

    Raises `Failed` if a trace cannot be read or written. The others are written.
    """
    paths = sorted(traces)
    rows = [(for_command(path), rank) for rank, path in enumerate(paths)]
    frame = spark.createDataFrame(rows, TASK).repartition(tasks or max(len(rows), 1), "path")
    # The executors do not need this package.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    work = _Work(command, for_command(output), run_id)
    results = frame.mapInArrow(work.run, RESULT).collect()
    errors = {row.path: row.error for row in results if row.error is not None}
    missing = {path for path, _ in rows} - {row.path for row in results}
    errors.update({path: "no result" for path in missing})
    if errors:
        raise Failed(errors)
    return Exported(len(paths))


@dataclass(frozen=True)
class _Work:
    """What a task does; it is sent to the executors."""

    command: str
    output: str
    run_id: str

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = batch.to_pylist()
            results = [self._one(row["path"], row["rank"]) for row in rows]
            columns = [[row["path"] for row in rows], [out for out, _ in results], [error for _, error in results]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(column, pa.string()) for column in columns], names=["path", "message", "error"]
            )

    def _one(self, path: str, rank: int) -> tuple[str | None, str | None]:
        arguments = [self.command, "export", "parquet", path, "--output", self.output]
        arguments += ["--run-id", self.run_id, "--rank", str(rank)]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True)
        except OSError as error:
            return None, f"{self.command}: {error.strerror}"
        message = done.stderr.strip()
        return (message, None) if done.returncode == 0 else (None, message or f"exit code {done.returncode}")

"""Profiler traces on a Spark cluster: `export` turns traces into a Parquet data set, `tables` and `run` query it.

The executors run the command `kinetoscope`, built with the feature `parquet`; the traces and the data set are on a file system that
all of them see. A task that is lost runs again: the command replaces what it wrote.
"""

from .dataset import Unreadable, open_dataset, queries, run
from .export import Exported, Failed, export

__all__ = ["Exported", "Failed", "Unreadable", "export", "open_dataset", "queries", "run"]

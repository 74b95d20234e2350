"""Compares other engines with `kinetoscope sql` on data sets of traces.

Usage: engines.py KINETOSCOPE PATH...

The paths are traces, or folders with traces. Each trace is exported as a data set. Every query of the library has the same rows, in the same order, in DuckDB and in the Python
package of DataFusion. The number of rows and the sum of every integer column are the same for pyarrow and Polars. A trace that
`kinetoscope` cannot read is counted as skipped.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import datafusion
import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset


def main(command: str, paths: list[str]) -> int:
    queries = json.loads(answer(command, "sql", "--list", "--format", "json"))["rows"]
    compared, skipped, failed = 0, 0, []
    for trace in [trace for path in paths for trace in files(Path(path))]:
        with tempfile.TemporaryDirectory() as folder:
            arguments = [command, "export", "parquet", trace, "--output", folder, "--run-id", "run"]
            if subprocess.run(arguments, capture_output=True).returncode != 0:
                skipped += 1
                continue
            faults = compare(command, Path(folder), queries)
        compared += 1
        failed += [f"{trace}: {fault}" for fault in faults]
    for fault in failed:
        print(f"FAILED {fault}")
    print(f"{compared} traces compared, {skipped} not readable, {len(failed)} differences")
    return 1 if failed or compared == 0 else 0


def files(path: Path) -> list[str]:
    """Every file below a folder. Of the results of PyTorch, only the traces."""
    found = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return [str(file) for file in found if "torch" not in path.parts or file.name.startswith("trace.json")]


def answer(*arguments: str) -> str:
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def compare(command: str, folder: Path, queries: list[dict]) -> list[str]:
    tables = sorted(path.name for path in folder.iterdir() if path.is_dir())
    duck = duckdb.connect()
    fusion = datafusion.SessionContext()
    faults = []
    for table in tables:
        data = pyarrow.dataset.dataset(folder / table, partitioning="hive").to_table()
        # The partition columns have the types of the schema.
        data = data.set_column(data.schema.get_field_index("rank"), "rank", data["rank"].cast(pa.int64()))
        fusion.register_record_batches(table, [data.to_batches() or [empty(data.schema)]])
        files = f"{folder}/{table}/**/*.parquet"
        duck.sql(f"CREATE VIEW {table} AS FROM read_parquet('{files}', hive_partitioning = true)")
        faults += sums(command, folder, table, data, polars.scan_parquet(files, hive_partitioning=True))
    for query in queries:
        ours = json.loads(answer(command, "sql", str(folder), "--run", query["name"], "--format", "json"))["rows"]
        ours = [tuple(row.values()) for row in ours]
        relation = duck.sql(query["sql"])
        theirs = [tuple(row) for row in relation.fetchall()]
        if ours != theirs:
            faults.append(f"{query['name']} in DuckDB: {difference(ours, theirs)}")
        batches = fusion.sql(query["sql"]).collect()
        theirs = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        if ours != theirs:
            faults.append(f"{query['name']} in DataFusion: {difference(ours, theirs)}")
    return faults


def empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def sums(command: str, folder: Path, table: str, data: pa.Table, frame: polars.LazyFrame) -> list[str]:
    """Compares the number of rows and the sums of the integer columns."""
    columns = [field.name for field in data.schema if pa.types.is_integer(field.type)]
    terms = ", ".join(f'COALESCE(SUM(CAST("{column}" AS DECIMAL(38, 0))), 0) AS "{column}"' for column in columns)
    text = answer(command, "sql", f"SELECT COUNT(*) AS n, {terms} FROM {table}", str(folder), "--format", "json")
    ours = [int(value) for value in json.loads(text)["rows"][0].values()]
    arrow = [data.num_rows] + [int(pc.sum(data[column].cast(pa.decimal128(38, 0))).as_py() or 0) for column in columns]
    totals = frame.select(polars.len(), *[polars.col(column).cast(polars.Int128).sum() for column in columns])
    pola = [int(value or 0) for value in totals.collect().row(0)]
    faults = [] if ours == arrow else [f"{table} in pyarrow: {difference(ours, arrow)}"]
    return faults + ([] if ours == pola else [f"{table} in Polars: {difference(ours, pola)}"])


def difference(ours: list, theirs: list) -> str:
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, expected {len(theirs)}"
    return next(f"{one} is not {other}" for one, other in zip(ours, theirs) if one != other)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

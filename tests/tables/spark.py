"""Compares Spark with `kinetoscope sql` on the data set of a run of 64 ranks.

Usage: spark.py KINETOSCOPE

1. The ranks are exported with two local threads, and queried: the answers of every query are byte-equal JSON.
2. The same on a cluster of two workers on the loopback address, of which one is killed during the export.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pyspark
from kinetoscope_spark import Unreadable, export, open_dataset, queries
from pyspark.sql import SparkSession

RANKS = 64


def main(command: str) -> int:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traces = ranks(folder / "ranks")
        local = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        local = local.config("spark.sql.shuffle.partitions", "4").getOrCreate()
        expected = compare(local, command, traces, folder / "local")
        local.stop()
        if across_a_loss(command, traces, folder) != expected:
            print("FAILED the cluster's answers differ from the local ones")
            return 1
    print(f"{len(expected)} queries on {RANKS} ranks are equal, locally and on a cluster that lost a worker")
    return 0


def ranks(folder: Path) -> list[str]:
    """Writes the traces of a generated run: four steps of kernels and collectives, with one slow rank."""
    folder.mkdir()
    paths = []
    for rank in range(RANKS):
        events, ts = [], 0.0
        for step in range(4):
            start, slow = ts, 1.5 if rank == 17 else 1.0
            for at in range(50):
                launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 5}
                launch["args"] = {"correlation": step * 1000 + at + 1}
                name = "ncclDevKernel_AllReduce" if at % 10 == 9 else f"gemm_{at % 3}"
                kernel = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts + 6, "dur": 11.125 * slow}
                kernel["args"] = {"correlation": step * 1000 + at + 1, "device": 0, "stream": 7, "grid": [at + 1, 1, 1]}
                kernel["args"] |= {"block": [128, 1, 1], "blocks per SM": 0.125 * (at + 1)}
                operator = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": ts - 1, "dur": 7}
                if name.startswith("nccl"):
                    operator |= {"name": "record_param_comms"}
                    operator["args"] = {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1024}
                    operator["args"] |= {"Out msg nelems": 1024, "Group size": RANKS, "Process Group Name": "0"}
                events += [operator, launch, kernel]
                ts += 20 * slow
            annotation = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1}
            events.append(annotation | {"ts": start - 2, "dur": ts - start})
            ts += 10
        path = folder / f"rank{rank}.json"
        info = {"rank": rank, "world_size": RANKS, "backend": "nccl"}
        path.write_text(json.dumps({"distributedInfo": info, "traceEvents": events}))
        paths.append(str(path))
    return paths


def refusals(spark: SparkSession, dataset: Path) -> None:
    """A folder that is no data set, and one of which a part is missing, are refused."""
    mark = dataset / "_unfinished" / "run_id=run,rank=99"
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    for folder, expected in ((dataset.parent, "is not a data set"), (dataset, "run_id=run/rank=99 was begun")):
        try:
            open_dataset(spark, str(folder))
        except Unreadable as error:
            assert expected in str(error), error
        else:
            raise AssertionError(f"{folder} was opened")
    mark.unlink()
    open_dataset(spark, str(dataset))


def compare(spark: SparkSession, command: str, traces: list[str], dataset: Path) -> dict[str, str]:
    """Exports the traces and compares every query. Returns the answers of Spark."""
    exported = export(spark, traces, str(dataset), "run", command, tasks=16)
    assert exported.traces == RANKS, exported
    assert open_dataset(spark, str(dataset)) == open_dataset(spark, dataset.as_uri())
    refusals(spark, dataset)
    answers = {}
    for name, sql in queries(command).items():
        ours = lines(row.asDict() for row in spark.sql(sql).collect())
        text = subprocess.run(
            [command, "sql", str(dataset), "--run", name, "--format", "json"], capture_output=True, text=True, check=True
        ).stdout
        theirs = lines(json.loads(text)["rows"])
        if ours != theirs:
            different = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), (len(ours), len(theirs)))
            raise SystemExit(f"FAILED {name}: Spark has {different[0]}, DataFusion {different[1]}")
        answers[name] = "\n".join(ours)
    return answers


def across_a_loss(command: str, traces: list[str], folder: Path) -> dict[str, str]:
    """Runs on a cluster of two workers, one of which is killed during the export."""
    port = free_port()
    environment = os.environ | {"SPARK_NO_DAEMONIZE": "1"}
    spark_class = Path(pyspark.__file__).parent / "bin/spark-class"
    address = f"spark://127.0.0.1:{port}"

    def start(*arguments: str) -> subprocess.Popen:
        # A group of its own, so that the executors of a worker end with it.
        return subprocess.Popen(
            [str(spark_class), *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    master = "org.apache.spark.deploy.master.Master"
    worker = "org.apache.spark.deploy.worker.Worker"
    processes = [start(master, "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")]
    try:
        wait_for(port)
        common = [worker, "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "1g"]
        workers = [start(*common, "--work-dir", str(folder / f"work{at}"), address) for at in range(2)]
        processes += workers
        builder = SparkSession.builder.master(address).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        builder = builder.config("spark.executor.memory", "512m").config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.sql.shuffle.partitions", "4")
        spark = builder.getOrCreate()
        wait_for_executors(spark, 2)
        # The first worker dies when some of the ranks are written.
        slow = folder / "slow.sh"
        slow.write_text(f'#!/bin/sh\nsleep 0.2\nexec "{command}" "$@"\n')
        slow.chmod(0o755)
        dataset = folder / "cluster"
        killer = subprocess.Popen(
            [sys.executable, __file__, "--kill", str(workers[0].pid), str(dataset / "traces" / "run_id=run")]
        )
        exported = export(spark, traces, str(dataset), "run", str(slow), tasks=16)
        assert killer.wait() == 0, "the worker was not killed during the export"
        assert exported.traces == RANKS, exported
        answers = compare_only(spark, command, dataset)
        spark.stop()
        return answers
    finally:
        for process in processes:
            kill(process.pid)


def compare_only(spark: SparkSession, command: str, dataset: Path) -> dict[str, str]:
    open_dataset(spark, str(dataset))
    found = queries(command).items()
    return {name: "\n".join(lines(row.asDict() for row in spark.sql(sql).collect())) for name, sql in found}


def lines(rows: Iterable[dict]) -> list[str]:
    """Rows as JSON. A number without a fraction is an integer, as JSON of `kinetoscope` has it."""

    def plain(value):
        return int(value) if isinstance(value, float) and value.is_integer() else value

    return [json.dumps({key: plain(value) for key, value in row.items()}) for row in rows]


def kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_when_begun(group: int, folder: Path) -> int:
    """Kills a worker as soon as a few of the ranks are written, and no later than when all are."""
    for _ in range(1200):
        written = len(list(folder.glob("rank=*/part-0.parquet")))
        if 4 <= written < RANKS:
            kill(group)
            return 0
        time.sleep(0.05)
    return 1


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the master of the cluster did not start")


def wait_for_executors(spark: SparkSession, count: int) -> None:
    for _ in range(600):
        # The driver is in the list as well.
        if len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) > count:
            return
        time.sleep(0.1)
    raise SystemExit("the workers of the cluster did not start")


if __name__ == "__main__":
    if sys.argv[1] == "--kill":
        sys.exit(kill_when_begun(int(sys.argv[2]), Path(sys.argv[3])))
    sys.exit(main(sys.argv[1]))

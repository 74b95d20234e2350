"""Exports to a local S3 server and queries it.

Usage: object_store.py KINETOSCOPE RUN

`RUN` is a folder with the traces of a run. The answers of a data set in the store, and of traces in it, equal those of files. No output
has the secret. A data set of which a part is missing is refused.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

SECRET = "s3cr3t-0f-the-t3st"
BUCKET = "traces"


def main(command: str, run: str) -> int:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT": f"http://{host}:{port}",
        "AWS_ALLOW_HTTP": "true",
    }
    try:
        return compare(command, run, boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1"))
    finally:
        server.stop()


def compare(command: str, run: str, s3) -> int:
    s3.create_bucket(Bucket=BUCKET)
    for path in Path(run).iterdir():
        s3.upload_file(str(path), BUCKET, f"run/{path.name}")
    with tempfile.TemporaryDirectory() as folder:
        printed = []

        def kinetoscope(*arguments: str, code: int = 0) -> str:
            done = subprocess.run([command, *arguments], capture_output=True, text=True)
            printed.extend([done.stdout, done.stderr])
            assert done.returncode == code, f"{arguments}: {done.stderr}"
            return done.stdout if code == 0 else done.stderr

        tables = f"s3://{BUCKET}/tables"
        kinetoscope("export", "parquet", run, "-o", f"{folder}/tables", "--run-id", "run")
        kinetoscope("export", "parquet", f"s3://{BUCKET}/run/", "-o", tables, "--run-id", "run")
        for query in ["stragglers", "ops", "tracks", "collectives"]:
            ours = kinetoscope("sql", "--run", query, tables, "--format", "csv")
            theirs = kinetoscope("sql", "--run", query, f"{folder}/tables", "--format", "csv")
            assert ours == theirs and ours.count("\n") > 1, query
        traces = kinetoscope("sql", "--run", "stragglers", f"s3://{BUCKET}/run/", "--run-id", "run", "--format", "csv")
        assert traces == kinetoscope("sql", "--run", "stragglers", f"{folder}/tables", "--format", "csv")
        # The query of an address is no part of a message.
        kinetoscope("export", "parquet", run, "-o", f"{tables}?sig={SECRET}", "--run-id", "run")
        # A part that was begun.
        s3.put_object(Bucket=BUCKET, Key="tables/_unfinished/run_id=run,rank=9", Body=b"")
        error = kinetoscope("sql", "SELECT 1", tables, code=2)
        assert "run_id=run/rank=9 was begun and not finished" in error, error
        # A bucket that does not exist, and an address with credentials.
        kinetoscope("sql", "SELECT 1", "s3://missing/tables", code=2)
        error = kinetoscope("export", "parquet", run, "-o", f"s3://user:{SECRET}@missing/tables?sig={SECRET}", code=2)
        assert not any(SECRET in text for text in printed), "an output has the secret"
    print("the answers of the object store equal those of files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

"""Runs the Python code of the page about SQL on a data set, as a reader would.

Usage: recipes.py KINETOSCOPE TRACE

Each block prints the kernels of a trace. What it prints must have the greatest sum of durations, or for a block without sums the
longest duration, that `kinetoscope sql` finds.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/src/guides/sql.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def main(command: str, trace: str) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (["parquet", "--output", "tables"], ["arrow", "--table", "ops", "--output", "ops.arrows"]):
            subprocess.run([command, "export", *arguments, trace], cwd=folder, check=True)
        sums = greatest(command, trace, "SELECT MAX(s) AS n FROM (SELECT SUM(dur_ns) AS s FROM kernels GROUP BY name)")
        longest = greatest(command, trace, "SELECT MAX(dur_ns) AS n FROM kernels")
        blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        for block in blocks:
            done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
            expected = sums if "sum" in block else longest if "kernels" in block else ""
            if done.returncode != 0 or expected not in done.stdout.replace(",", ""):
                failed += 1
                print(f"FAILED\n{block}\nexpected {expected}:\n{done.stdout}\n{done.stderr}")
    print(f"{len(blocks)} recipes, {failed} failed")
    return 1 if failed or len(blocks) < 5 else 0


def greatest(command: str, trace: str, sql: str) -> str:
    done = subprocess.run([command, "sql", sql, trace, "--format", "json"], capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["rows"][0]["n"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

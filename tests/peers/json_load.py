"""Parses a trace with Python's own parser: `json_load.py FILE`."""

import gzip
import json
import sys

path = sys.argv[1]
with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
    assert json.load(file)["traceEvents"]

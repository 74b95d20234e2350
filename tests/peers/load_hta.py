"""Loads traces with HTA and runs its analyses: `load_hta.py [ANALYSIS...] FOLDER|FILE`."""

import os
import sys

from hta.trace_analysis import TraceAnalysis

*analyses, path = sys.argv[1:]
traces = {"trace_dir": path} if os.path.isdir(path) else {"trace_files": {0: path}}
loaded = TraceAnalysis(**traces)
for analysis in analyses:
    answer = getattr(loaded, analysis)(visualize=False)
    assert not answer.empty, analysis

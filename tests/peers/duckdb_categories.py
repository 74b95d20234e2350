"""Counts the events of each category with DuckDB: `duckdb_categories.py auto|columns FILE`.

`auto` lets DuckDB find all fields; `columns` names the two that the query reads.
"""

import sys

import duckdb

COLUMNS = ", columns = {traceEvents: 'STRUCT(cat VARCHAR, dur DOUBLE)[]'}"
mode, path = sys.argv[1:]
columns = {"auto": "", "columns": COLUMNS}[mode]
rows = duckdb.execute(
    f"""select e.cat, count(*), sum(e.dur)
    from (select unnest(traceEvents) as e from read_json(?, maximum_object_size = 1000000000{columns}))
    group by e.cat""",
    [path],
).fetchall()
assert len(rows) > 1, rows
print(rows)

-- Spans with the column names of HTA's data frames: times in us, -1 where there is none.
SELECT
  e.run_id,
  e.rank,
  e.event AS "index",
  e.category AS cat,
  e.category AS s_cat,
  e.name,
  e.name AS s_name,
  TRY_CAST(t.pid AS BIGINT) AS pid,
  TRY_CAST(t.tid AS BIGINT) AS tid,
  CAST(e.ts_ns AS DOUBLE) / 1000 AS ts,
  CAST(e.dur_ns AS DOUBLE) / 1000 AS dur,
  CAST(e.ts_ns + e.dur_ns AS DOUBLE) / 1000 AS "end",
  COALESCE(e.stream, -1) AS stream,
  COALESCE(e.correlation, -1) AS correlation,
  COALESCE(c.work, w.call, -1) AS index_correlation,
  COALESCE(e.step, -1) AS iteration,
  COALESCE(e.parent, -1) AS parent,
  COALESCE(e.depth, -1) AS depth,
  COALESCE(e.python_id, -1) AS python_id,
  COALESCE(e.python_parent_id, -1) AS python_parent_id
FROM events e
JOIN tracks t ON t.run_id = e.run_id AND t.rank = e.rank AND t.track = e.track
LEFT JOIN (
  SELECT run_id, rank, call, MIN(work) AS work FROM launches GROUP BY run_id, rank, call
) c ON c.run_id = e.run_id AND c.rank = e.rank AND c.call = e.event
LEFT JOIN launches w ON w.run_id = e.run_id AND w.rank = e.rank AND w.work = e.event
WHERE e.depth IS NOT NULL

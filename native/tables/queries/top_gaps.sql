-- The 20 longest periods in which a device was idle, and what stood behind them.
WITH longest AS (
  SELECT run_id, rank, device, ts_ns, dur_ns, cause, behind
  FROM gaps
  ORDER BY dur_ns DESC, run_id, rank, ts_ns, device
  LIMIT 20
)
SELECT
  g.run_id,
  g.rank,
  g.device,
  g.ts_ns,
  g.dur_ns,
  g.cause,
  e.name AS behind
FROM longest g
LEFT JOIN events e ON e.run_id = g.run_id AND e.rank = g.rank AND e.event = g.behind
ORDER BY g.dur_ns DESC, g.run_id, g.rank, g.ts_ns, g.device

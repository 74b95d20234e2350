-- The 20 longest periods in which a device was idle, and what stood behind them.
SELECT
  g.run_id,
  g.rank,
  g.device,
  g.ts_ns,
  g.dur_ns,
  g.cause,
  e.name AS behind
FROM gaps g
LEFT JOIN events e ON e.run_id = g.run_id AND e.rank = g.rank AND e.event = g.behind
ORDER BY g.dur_ns DESC, g.run_id, g.rank, g.ts_ns, g.device
LIMIT 20

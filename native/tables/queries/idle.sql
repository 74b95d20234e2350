-- Idle time of devices by cause.
-- equals: idle
SELECT
  run_id,
  rank,
  device,
  cause,
  CAST(SUM(dur_ns) AS BIGINT) AS time_ns
FROM gaps
GROUP BY run_id, rank, device, cause
ORDER BY run_id, rank, device, time_ns DESC, cause

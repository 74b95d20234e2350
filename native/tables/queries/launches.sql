-- Launches by kernel: duration of the calls, and delay until the work starts.
-- equals: launches --by kernel
SELECT
  k.run_id,
  k.rank,
  k.name,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST((SUM(l.call_ns) - SUM(l.call_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS call_mean_ns,
  MAX(l.call_ns) AS call_max_ns,
  CAST((SUM(l.delay_ns) - SUM(l.delay_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS delay_mean_ns,
  MAX(l.delay_ns) AS delay_max_ns,
  CAST((SUM(l.work_ns) - SUM(l.work_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS work_mean_ns,
  CAST(SUM(CASE WHEN l.call_ns <= 50000 AND l.work_ns < l.call_ns THEN 1 ELSE 0 END) AS BIGINT) AS short,
  CAST(SUM(CASE WHEN l.call_ns > 50000 THEN 1 ELSE 0 END) AS BIGINT) AS slow,
  CAST(SUM(CASE WHEN l.delay_ns > 100000 THEN 1 ELSE 0 END) AS BIGINT) AS late
FROM launches l
JOIN kernels k ON k.run_id = l.run_id AND k.rank = l.rank AND k.event = l.work
GROUP BY k.run_id, k.rank, k.name
ORDER BY k.run_id, k.rank, count DESC, k.name

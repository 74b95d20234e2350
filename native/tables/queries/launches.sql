-- Launches by kernel: duration of the calls, and delay until the work starts. Only the first work of a call has a delay.
-- equals: launches --by kernel
WITH launched AS (
  SELECT
    k.run_id,
    k.rank,
    k.name,
    l.work_ns,
    l.delay_ns,
    CASE WHEN l.delay_ns IS NOT NULL THEN l.call_ns END AS call_ns
  FROM launches l
  JOIN kernels k ON k.run_id = l.run_id AND k.rank = l.rank AND k.event = l.work
)
SELECT
  run_id,
  rank,
  name,
  CAST(COUNT(delay_ns) AS BIGINT) AS count,
  CAST(COUNT(*) AS BIGINT) AS activities,
  CAST((SUM(call_ns) - SUM(call_ns) % NULLIF(COUNT(delay_ns), 0)) / NULLIF(COUNT(delay_ns), 0) AS BIGINT) AS call_mean_ns,
  MAX(call_ns) AS call_max_ns,
  CAST((SUM(delay_ns) - SUM(delay_ns) % NULLIF(COUNT(delay_ns), 0)) / NULLIF(COUNT(delay_ns), 0) AS BIGINT) AS delay_mean_ns,
  MAX(delay_ns) AS delay_max_ns,
  CAST((SUM(work_ns) - SUM(work_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS work_mean_ns,
  CAST(SUM(CASE WHEN call_ns <= 50000 AND work_ns < call_ns THEN 1 ELSE 0 END) AS BIGINT) AS short,
  CAST(SUM(CASE WHEN call_ns > 50000 THEN 1 ELSE 0 END) AS BIGINT) AS slow,
  CAST(SUM(CASE WHEN delay_ns > 100000 THEN 1 ELSE 0 END) AS BIGINT) AS late
FROM launched
GROUP BY run_id, rank, name
ORDER BY run_id, rank, count DESC, name

-- Per step of a run: the rank with the longest step, and how much longer it took than the mean.
WITH ranked AS (
  SELECT
    run_id,
    rank,
    step,
    dur_ns,
    ROW_NUMBER() OVER (PARTITION BY run_id, step ORDER BY dur_ns DESC, rank) AS place,
    COUNT(*) OVER (PARTITION BY run_id, step) AS ranks,
    SUM(dur_ns) OVER (PARTITION BY run_id, step) AS sum_ns
  FROM steps
)
SELECT
  run_id,
  step,
  CAST(ranks AS BIGINT) AS ranks,
  rank AS slowest_rank,
  dur_ns AS slowest_ns,
  CAST((sum_ns - sum_ns % ranks) / ranks AS BIGINT) AS mean_ns,
  CAST(dur_ns - (sum_ns - sum_ns % ranks) / ranks AS BIGINT) AS excess_ns
FROM ranked
WHERE place = 1
ORDER BY run_id, step

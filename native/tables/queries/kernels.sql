-- Kernels, copies and memsets by time.
-- equals: kernels
SELECT
  run_id,
  rank,
  name,
  short_name,
  class,
  category,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(dur_ns) AS BIGINT) AS sum_ns,
  CAST((SUM(dur_ns) - SUM(dur_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS mean_ns,
  MIN(dur_ns) AS min_ns,
  MAX(dur_ns) AS max_ns,
  CAST(NULLIF(SUM(COALESCE(bytes, 0)), 0) AS BIGINT) AS bytes
FROM kernels
GROUP BY run_id, rank, name, short_name, class, category
ORDER BY run_id, rank, sum_ns DESC, name, class, category

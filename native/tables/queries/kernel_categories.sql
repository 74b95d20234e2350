-- Device work by category, such as gemm and attention.
-- equals: kernels --by category
SELECT
  run_id,
  rank,
  category AS name,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(dur_ns) AS BIGINT) AS sum_ns,
  MIN(dur_ns) AS min_ns,
  MAX(dur_ns) AS max_ns
FROM kernels
GROUP BY run_id, rank, category
ORDER BY run_id, rank, sum_ns DESC, name

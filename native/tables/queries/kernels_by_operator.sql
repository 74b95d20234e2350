-- Device work by the operator that launched it.
-- equals: kernels --by operator
SELECT
  k.run_id,
  k.rank,
  COALESCE(o.name, '(no operator)') AS name,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(k.dur_ns) AS BIGINT) AS sum_ns,
  MIN(k.dur_ns) AS min_ns,
  MAX(k.dur_ns) AS max_ns
FROM kernels k
LEFT JOIN events o ON o.run_id = k.run_id AND o.rank = k.rank AND o.event = k.op
GROUP BY k.run_id, k.rank, COALESCE(o.name, '(no operator)')
ORDER BY k.run_id, k.rank, sum_ns DESC, name

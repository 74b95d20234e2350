-- Kernels of at most 5 us, by the time that their launch calls took.
SELECT
  k.run_id,
  k.rank,
  k.short_name,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(k.dur_ns) AS BIGINT) AS sum_ns,
  CAST(SUM(l.call_ns) AS BIGINT) AS call_sum_ns
FROM kernels k
JOIN launches l ON l.run_id = k.run_id AND l.rank = k.rank AND l.work = k.event
WHERE k.dur_ns <= 5000 AND k.class = 'compute'
GROUP BY k.run_id, k.rank, k.short_name
ORDER BY k.run_id, k.rank, call_sum_ns DESC, k.short_name

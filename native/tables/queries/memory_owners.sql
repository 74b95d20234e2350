-- What allocated the most memory, by operator or function.
SELECT
  run_id,
  rank,
  device,
  COALESCE(owner, '(no operator)') AS owner,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(bytes) AS BIGINT) AS allocated_bytes
FROM memory
WHERE kind = 'allocation'
GROUP BY run_id, rank, device, COALESCE(owner, '(no operator)')
ORDER BY run_id, rank, allocated_bytes DESC, device, owner

-- Memory by device: what was allocated and released, and the peak.
-- equals: memory
-- where: kind=device
WITH numbered AS (
  SELECT
    run_id,
    rank,
    device,
    bytes,
    allocated_bytes,
    reserved_bytes,
    ROW_NUMBER() OVER (PARTITION BY run_id, rank, device ORDER BY record) AS number
  FROM memory
  WHERE kind <> 'out_of_memory'
)
SELECT
  run_id,
  rank,
  device,
  CAST(SUM(CASE WHEN bytes > 0 THEN 1 ELSE 0 END) AS BIGINT) AS count,
  CAST(SUM(CASE WHEN bytes > 0 THEN bytes ELSE 0 END) AS BIGINT) AS allocated_bytes,
  CAST(SUM(CASE WHEN bytes < 0 THEN -bytes ELSE 0 END) AS BIGINT) AS freed_bytes
FROM numbered
GROUP BY run_id, rank, device
ORDER BY run_id, rank, device

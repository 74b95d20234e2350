-- Counters with their least, greatest and last values.
-- equals: counters
WITH numbered AS (
  SELECT
    run_id,
    rank,
    counter,
    process,
    name,
    unit,
    value,
    ROW_NUMBER() OVER (PARTITION BY run_id, rank, counter ORDER BY point DESC) AS from_last
  FROM counters
)
SELECT
  run_id,
  rank,
  counter,
  process,
  name,
  unit,
  CAST(COUNT(*) AS BIGINT) AS points,
  MIN(value) AS min,
  MAX(value) AS max,
  MAX(CASE WHEN from_last = 1 THEN value END) AS last
FROM numbered
GROUP BY run_id, rank, counter, process, name, unit
ORDER BY run_id, rank, counter

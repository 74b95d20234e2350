-- Counters with their least, greatest and last values.
-- equals: counters
WITH ranges AS (
  SELECT
    run_id,
    rank,
    counter,
    CAST(COUNT(*) AS BIGINT) AS points,
    MIN(value) AS min,
    MAX(value) AS max,
    MAX(point) AS last_point
  FROM counters
  GROUP BY run_id, rank, counter
)
SELECT
  r.run_id,
  r.rank,
  r.counter,
  c.process,
  c.name,
  c.unit,
  r.points,
  r.min,
  r.max,
  c.value AS last
FROM ranges r
JOIN counters c
  ON c.run_id = r.run_id AND c.rank = r.rank AND c.counter = r.counter AND c.point = r.last_point
ORDER BY r.run_id, r.rank, r.counter

-- Spans of every category by name.
-- equals: names
SELECT
  run_id,
  rank,
  name,
  NULLIF(kind, 'other') AS category,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(dur_ns) AS BIGINT) AS total_ns,
  CAST(SUM(self_ns) AS BIGINT) AS self_ns,
  CAST((SUM(dur_ns) - SUM(dur_ns) % COUNT(*)) / COUNT(*) AS BIGINT) AS mean_ns,
  MIN(dur_ns) AS min_ns,
  MAX(dur_ns) AS max_ns
FROM events
WHERE depth IS NOT NULL
GROUP BY run_id, rank, name, kind
ORDER BY run_id, rank, total_ns DESC, name, kind

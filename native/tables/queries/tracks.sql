-- Threads and streams with their events and busy time. Annotations on streams are no busy time.
-- equals: tracks
WITH spans AS (
  SELECT
    run_id,
    rank,
    track,
    ts_ns,
    ts_ns + dur_ns AS end_ns,
    category = 'gpu_user_annotation' AS is_annotation,
    MAX(ts_ns + dur_ns) OVER (
      PARTITION BY run_id, rank, track, category = 'gpu_user_annotation'
      ORDER BY ts_ns, ts_ns + dur_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM events
  WHERE depth IS NOT NULL
),
busy AS (
  SELECT
    run_id,
    rank,
    track,
    CAST(COUNT(*) AS BIGINT) AS spans,
    MIN(ts_ns) AS start_ns,
    MAX(end_ns) AS end_ns,
    CAST(SUM(CASE
      WHEN is_annotation THEN 0
      WHEN reached_ns IS NULL OR reached_ns <= ts_ns THEN end_ns - ts_ns
      WHEN reached_ns < end_ns THEN end_ns - reached_ns
      ELSE 0
    END) AS BIGINT) AS busy_ns
  FROM spans
  GROUP BY run_id, rank, track
),
counted AS (
  SELECT run_id, rank, track, CAST(COUNT(*) AS BIGINT) AS events
  FROM events
  WHERE ts_ns IS NOT NULL AND (phase IS NULL OR phase <> 'M')
  GROUP BY run_id, rank, track
)
SELECT
  t.run_id,
  t.rank,
  t.track,
  t.process,
  t.thread,
  t.pid,
  t.tid,
  c.events,
  COALESCE(b.spans, 0) AS spans,
  b.start_ns,
  b.end_ns,
  COALESCE(b.busy_ns, 0) AS busy_ns
FROM tracks t
JOIN counted c ON c.run_id = t.run_id AND c.rank = t.rank AND c.track = t.track
LEFT JOIN busy b ON b.run_id = t.run_id AND b.rank = t.rank AND b.track = t.track
ORDER BY t.run_id, t.rank, t.track

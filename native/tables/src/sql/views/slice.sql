-- Spans and instant events, with Perfetto's column names. Ids are unique in a run.
SELECT
  run_id,
  rank,
  rank * 1099511627776 + event AS id,
  ts_ns AS ts,
  COALESCE(dur_ns, 0) AS dur,
  rank * 1099511627776 + track AS track_id,
  category,
  name,
  depth,
  CASE WHEN parent IS NOT NULL THEN rank * 1099511627776 + parent END AS parent_id,
  rank * 1099511627776 + event AS arg_set_id
FROM events
WHERE depth IS NOT NULL OR phase IN ('i', 'I', 'R')

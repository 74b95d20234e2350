-- Values of counters, with Perfetto's column names.
SELECT
  run_id,
  rank,
  ts_ns AS ts,
  rank * 1099511627776 + counter AS track_id,
  value
FROM counters

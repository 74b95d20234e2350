-- Counters, with Perfetto's column names.
SELECT DISTINCT
  run_id,
  rank,
  rank * 1099511627776 + counter AS id,
  name,
  unit,
  process AS description
FROM counters

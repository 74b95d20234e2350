-- The tracks of threads, with Perfetto's column names.
SELECT
  run_id,
  rank,
  rank * 1099511627776 + track AS id,
  rank * 1099511627776 + track AS utid,
  thread AS name
FROM tracks

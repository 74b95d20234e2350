-- Threads and streams, with Perfetto's column names.
SELECT
  run_id,
  rank,
  rank * 1099511627776 + track AS id,
  thread AS name,
  CASE WHEN stream IS NULL THEN 'thread_track' ELSE 'gpu_track' END AS type
FROM tracks

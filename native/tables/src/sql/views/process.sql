-- Processes and devices, with Perfetto's column names.
SELECT DISTINCT
  run_id,
  rank,
  TRY_CAST(pid AS BIGINT) AS upid,
  TRY_CAST(pid AS BIGINT) AS pid,
  process AS name
FROM tracks

-- Threads and streams, with Perfetto's column names; `utid` is the id of the track.
SELECT
  run_id,
  rank,
  rank * 1099511627776 + track AS utid,
  TRY_CAST(tid AS BIGINT) AS tid,
  thread AS name,
  TRY_CAST(pid AS BIGINT) AS upid
FROM tracks

-- Event counts, machine and time of each trace.
-- equals: info
SELECT
  run_id,
  rank,
  producer,
  events,
  spans,
  operators,
  kernels,
  memcpys,
  memsets,
  tracks,
  world_size,
  base_time_ns,
  start_ns,
  wall_ns,
  host
FROM traces
ORDER BY run_id, rank

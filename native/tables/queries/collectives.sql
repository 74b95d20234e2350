-- Collectives: what each call sent, and how long it took.
-- equals: collectives
SELECT
  run_id,
  rank,
  ts_ns AS start_ns,
  collective,
  group_size,
  seq,
  src_rank,
  dst_rank,
  dtype,
  in_nelems,
  out_nelems,
  bytes,
  cpu_ns,
  device_ns
FROM collectives
ORDER BY run_id, rank, ts_ns, event

-- Profiler steps: what each spent its time on.
-- equals: steps
SELECT
  run_id,
  rank,
  name,
  step,
  ts_ns AS start_ns,
  dur_ns AS wall_ns,
  device_busy_ns,
  device_sum_ns,
  launched,
  kernel_ns,
  communication_ns,
  memcpy_ns,
  memset_ns,
  runtime_ns,
  data_loader_ns,
  cpu_op_ns,
  other_ns
FROM steps
ORDER BY run_id, rank, start_ns, step

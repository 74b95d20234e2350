-- Operators: PyTorch's key averages, by self CPU time.
-- equals: ops
SELECT
  run_id,
  rank,
  name,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(cpu_time_total_ns) AS BIGINT) AS cpu_time_total_ns,
  CAST(SUM(self_cpu_time_total_ns) AS BIGINT) AS self_cpu_time_total_ns,
  CAST(SUM(device_time_total_ns) AS BIGINT) AS device_time_total_ns,
  CAST(SUM(self_device_time_total_ns) AS BIGINT) AS self_device_time_total_ns,
  CAST(SUM(cpu_memory_usage_bytes) AS BIGINT) AS cpu_memory_usage_bytes,
  CAST(SUM(self_cpu_memory_usage_bytes) AS BIGINT) AS self_cpu_memory_usage_bytes,
  CAST(SUM(device_memory_usage_bytes) AS BIGINT) AS device_memory_usage_bytes,
  CAST(SUM(self_device_memory_usage_bytes) AS BIGINT) AS self_device_memory_usage_bytes,
  CAST(SUM(flops) AS BIGINT) AS flops,
  device_type,
  is_user_annotation
FROM ops
WHERE is_counted
GROUP BY run_id, rank, name, device_type, is_user_annotation
ORDER BY run_id, rank, self_cpu_time_total_ns DESC, name, device_type, is_user_annotation

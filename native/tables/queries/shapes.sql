-- Operators by the shapes of their inputs.
-- equals: ops --group-by shape
SELECT
  run_id,
  rank,
  name,
  input_shapes,
  CAST(COUNT(*) AS BIGINT) AS count,
  CAST(SUM(self_cpu_time_total_ns) AS BIGINT) AS self_cpu_time_total_ns,
  CAST(SUM(self_device_time_total_ns) AS BIGINT) AS self_device_time_total_ns,
  device_type,
  is_user_annotation
FROM ops
WHERE is_counted
GROUP BY run_id, rank, name, input_shapes, device_type, is_user_annotation
ORDER BY run_id, rank, self_device_time_total_ns DESC, name, input_shapes, device_type, is_user_annotation

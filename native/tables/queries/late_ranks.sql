-- Per rank of a run: in how many collectives it was the last, by the shortest time in the collective.
WITH calls AS (
  SELECT
    run_id,
    rank,
    COALESCE(process_group, '') AS process_group,
    collective,
    COALESCE(device_ns, cpu_ns) AS dur_ns,
    ROW_NUMBER() OVER (
      PARTITION BY run_id, rank, COALESCE(process_group, ''), collective ORDER BY ts_ns, event
    ) AS number
  FROM collectives
),
compared AS (
  SELECT
    run_id,
    rank,
    dur_ns,
    MAX(dur_ns) OVER (PARTITION BY run_id, process_group, collective, number) AS longest_ns,
    ROW_NUMBER() OVER (PARTITION BY run_id, process_group, collective, number ORDER BY dur_ns, rank) AS place,
    COUNT(*) OVER (PARTITION BY run_id, process_group, collective, number) AS ranks
  FROM calls
)
SELECT
  run_id,
  rank,
  CAST(COUNT(*) AS BIGINT) AS collectives,
  CAST(SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS BIGINT) AS last_in,
  CAST(SUM(CASE WHEN place = 1 THEN longest_ns - dur_ns ELSE 0 END) AS BIGINT) AS others_waited_ns
FROM compared
WHERE ranks > 1
GROUP BY run_id, rank
ORDER BY run_id, others_waited_ns DESC, rank

-- Time of devices: compute, exposed communication and copies, idle.
-- equals: breakdown
WITH work AS (
  SELECT
    k.run_id,
    k.rank,
    t.pid AS device,
    CASE k.class WHEN 'compute' THEN 0 WHEN 'communication' THEN 1 WHEN 'memcpy' THEN 2 ELSE 3 END AS level,
    k.ts_ns,
    k.ts_ns + k.dur_ns AS end_ns
  FROM kernels k
  JOIN tracks t ON t.run_id = k.run_id AND t.rank = k.rank AND t.track = k.track
),
-- A set is of one class, or of a class with those before it.
sets AS (
  SELECT 0 AS least, 0 AS most
  UNION ALL SELECT 0 AS least, 1 AS most
  UNION ALL SELECT 0 AS least, 2 AS most
  UNION ALL SELECT 0 AS least, 3 AS most
  UNION ALL SELECT 1 AS least, 1 AS most
  UNION ALL SELECT 2 AS least, 2 AS most
  UNION ALL SELECT 3 AS least, 3 AS most
),
reached AS (
  SELECT
    w.run_id,
    w.rank,
    w.device,
    s.least,
    s.most,
    w.ts_ns,
    w.end_ns,
    MAX(w.end_ns) OVER (
      PARTITION BY w.run_id, w.rank, w.device, s.least, s.most
      ORDER BY w.ts_ns, w.end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM work w
  JOIN sets s ON w.level >= s.least AND w.level <= s.most
),
-- The part of each interval after those that began before it: the sum is the length of the union.
added AS (
  SELECT
    run_id,
    rank,
    device,
    least,
    most,
    ts_ns,
    end_ns,
    CASE
      WHEN reached_ns IS NULL OR reached_ns <= ts_ns THEN end_ns - ts_ns
      WHEN reached_ns < end_ns THEN end_ns - reached_ns
      ELSE 0
    END AS added_ns
  FROM reached
),
unions AS (
  SELECT
    run_id,
    rank,
    device,
    MAX(end_ns) - MIN(ts_ns) AS wall_ns,
    SUM(CASE WHEN least = 0 AND most = 0 THEN added_ns ELSE 0 END) AS to_compute,
    SUM(CASE WHEN least = 0 AND most = 1 THEN added_ns ELSE 0 END) AS to_communication,
    SUM(CASE WHEN least = 0 AND most = 2 THEN added_ns ELSE 0 END) AS to_memcpy,
    SUM(CASE WHEN least = 0 AND most = 3 THEN added_ns ELSE 0 END) AS to_memset,
    SUM(CASE WHEN least = 1 THEN added_ns ELSE 0 END) AS communication,
    SUM(CASE WHEN least = 2 THEN added_ns ELSE 0 END) AS memcpy,
    SUM(CASE WHEN least = 3 THEN added_ns ELSE 0 END) AS memset
  FROM added
  GROUP BY run_id, rank, device
)
SELECT
  run_id,
  rank,
  device,
  wall_ns,
  CAST(to_compute AS BIGINT) AS compute_ns,
  CAST(to_communication - to_compute AS BIGINT) AS exposed_communication_ns,
  CAST(to_memcpy - to_communication AS BIGINT) AS exposed_memcpy_ns,
  CAST(to_memset - to_memcpy AS BIGINT) AS exposed_memset_ns,
  CAST(wall_ns - to_memset AS BIGINT) AS idle_ns,
  CAST(communication AS BIGINT) AS communication_ns,
  CAST(memcpy AS BIGINT) AS memcpy_ns,
  CAST(memset AS BIGINT) AS memset_ns
FROM unions
ORDER BY run_id, rank, device

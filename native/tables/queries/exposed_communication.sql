-- Per rank: communication that no other device work hid, and its share of the time of the devices.
WITH work AS (
  SELECT
    k.run_id,
    k.rank,
    t.pid AS device,
    CASE WHEN k.class = 'communication' THEN 1 ELSE 0 END AS is_communication,
    k.ts_ns,
    k.ts_ns + k.dur_ns AS end_ns
  FROM kernels k
  JOIN tracks t ON t.run_id = k.run_id AND t.rank = k.rank AND t.track = k.track
),
sets AS (
  SELECT 0 AS most UNION ALL SELECT 1 AS most
),
reached AS (
  SELECT
    w.run_id,
    w.rank,
    w.device,
    s.most,
    w.ts_ns,
    w.end_ns,
    MAX(w.end_ns) OVER (
      PARTITION BY w.run_id, w.rank, w.device, s.most
      ORDER BY w.ts_ns, w.end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM work w
  JOIN sets s ON w.is_communication <= s.most
),
unions AS (
  SELECT
    run_id,
    rank,
    device,
    most,
    MAX(end_ns) - MIN(ts_ns) AS wall_ns,
    SUM(CASE
      WHEN reached_ns IS NULL OR reached_ns <= ts_ns THEN end_ns - ts_ns
      WHEN reached_ns < end_ns THEN end_ns - reached_ns
      ELSE 0
    END) AS busy_ns
  FROM reached
  GROUP BY run_id, rank, device, most
)
SELECT
  run_id,
  rank,
  CAST(SUM(CASE WHEN most = 1 THEN busy_ns ELSE -busy_ns END) AS BIGINT) AS exposed_ns,
  CAST(SUM(CASE WHEN most = 1 THEN wall_ns ELSE 0 END) AS BIGINT) AS device_ns,
  CAST(SUM(CASE WHEN most = 1 THEN busy_ns ELSE -busy_ns END) AS DOUBLE)
    / CAST(SUM(CASE WHEN most = 1 THEN wall_ns ELSE 0 END) AS DOUBLE) AS share
FROM unions
GROUP BY run_id, rank
ORDER BY run_id, rank

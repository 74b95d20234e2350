-- Arguments of events, with Perfetto's column names; `arg_set_id` is that of `slice`.
WITH texts AS (
  SELECT run_id, rank, event, UNNEST(MAP_KEYS(args)) AS k, UNNEST(MAP_VALUES(args)) AS v FROM events WHERE args IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'correlation' AS k, CAST(correlation AS VARCHAR) AS v FROM events WHERE correlation IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'External id' AS k, CAST(external_id AS VARCHAR) AS v FROM events WHERE external_id IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'device' AS k, CAST(device AS VARCHAR) AS v FROM events WHERE device IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'stream' AS k, CAST(stream AS VARCHAR) AS v FROM events WHERE stream IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Sequence number' AS k, CAST(sequence_nr AS VARCHAR) AS v FROM events WHERE sequence_nr IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Fwd thread id' AS k, CAST(fwd_thread AS VARCHAR) AS v FROM events WHERE fwd_thread IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Ev Idx' AS k, CAST(ev_idx AS VARCHAR) AS v FROM events WHERE ev_idx IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Record function id' AS k, CAST(record_function_id AS VARCHAR) AS v FROM events WHERE record_function_id IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Python id' AS k, CAST(python_id AS VARCHAR) AS v FROM events WHERE python_id IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Python parent id' AS k, CAST(python_parent_id AS VARCHAR) AS v FROM events WHERE python_parent_id IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Input Dims' AS k, input_dims AS v FROM events WHERE input_dims IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'Input type' AS k, input_types AS v FROM events WHERE input_types IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'registers per thread' AS k, CAST(registers AS VARCHAR) AS v FROM kernels WHERE registers IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'shared memory' AS k, CAST(shared_bytes AS VARCHAR) AS v FROM kernels WHERE shared_bytes IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'blocks per SM' AS k, CAST(blocks_per_sm AS VARCHAR) AS v FROM kernels WHERE blocks_per_sm IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'warps per SM' AS k, CAST(warps_per_sm AS VARCHAR) AS v FROM kernels WHERE warps_per_sm IS NOT NULL
  UNION ALL SELECT run_id, rank, event, 'est. achieved occupancy %' AS k, CAST(occupancy_percent AS VARCHAR) AS v FROM kernels WHERE occupancy_percent IS NOT NULL
),
numbers AS (
  -- A cast to an integer rounds in some engines.
  SELECT run_id, rank, event, k, v, CASE WHEN v NOT LIKE '%.%' AND LOWER(v) NOT LIKE '%e%' THEN TRY_CAST(v AS BIGINT) END AS int_value
  FROM texts
)
SELECT
  run_id,
  rank,
  rank * 1099511627776 + event AS arg_set_id,
  CONCAT('args.', k) AS flat_key,
  CONCAT('args.', k) AS key,
  int_value,
  CASE WHEN int_value IS NULL THEN v END AS string_value,
  TRY_CAST(v AS DOUBLE) AS real_value,
  v AS display_value
FROM numbers

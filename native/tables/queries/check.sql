-- Data quality: identities and diagnostics.
-- equals: check
SELECT
  run_id,
  rank,
  kind,
  name,
  holds,
  left_value,
  right_value,
  count,
  first_offset,
  example
FROM diagnostics
ORDER BY run_id, rank, kind, name, count

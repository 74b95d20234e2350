-- Flows from calls to the work that they launched, with Perfetto's column names.
SELECT
  run_id,
  rank,
  rank * 1099511627776 + work AS id,
  rank * 1099511627776 + call AS slice_out,
  rank * 1099511627776 + work AS slice_in
FROM launches

-- What costs time, what it would save, and what to do.
SELECT run_id, rank, finding, code, cost_ns, saving_ns, message, advice
FROM findings
ORDER BY run_id, rank, finding

/**
 * Settings for questions about a few rows of large tables: index scans are right even if the planner has stale
 * statistics, or none, as for a newly filled table. Until the end of the transaction.
 */
export const indexesOnly =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off';

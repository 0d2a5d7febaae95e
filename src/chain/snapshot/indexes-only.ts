/**
 * SQL: settings for queries about a few rows of large tables, valid until the end of the transaction. They force index
 * scans. These are the right choice even if the planner has old statistics, or none, as for a newly filled table.
 */
export const indexesOnly =
  'SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off';

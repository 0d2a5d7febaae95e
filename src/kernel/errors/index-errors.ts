import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the index of the chain. */
export const indexErrors = {
  address_index_fixed: {
    meaning:
      'The index of addresses is on or off for the whole life of a database, since its first block. The setting now has another value.',
    action:
      'Set --index-addresses (INDEX_ADDRESSES) to the original value. To use the new value, index into an empty database with another DATA_DIR or DATABASE_URL.',
    retry: 'never',
  },
  address_index_gap: {
    meaning: 'The index of addresses needs every block from height 0 on, but the source lacks some blocks.',
    action:
      'Leave --index-addresses out, or use a source with every block: a node, or a folder without gaps.',
    retry: 'never',
  },
  sat_index_fixed: {
    meaning:
      'The index of sats is on or off for the whole life of a database, since its first block. The setting now has another value.',
    action:
      'Set --index-sats (INDEX_SATS) to the original value. To use the new value, index into an empty database with another DATA_DIR or DATABASE_URL.',
    retry: 'never',
  },
  sat_index_gap: {
    meaning: 'The index of sats needs every block from height 0 on, but the source lacks some blocks.',
    action: 'Leave --index-sats out, or use a source with every block: a node, or a folder without gaps.',
    retry: 'never',
  },
  history_incomplete: {
    meaning:
      'Blocks are missing below the tip, so this database has no balances of runes and no cumulative hashes. Both need every block from their first height on.',
    action:
      'Index every block from that first height on, with a node or a folder without gaps as the source. `npm run demo -- --sample regtest` has a complete chain.',
    retry: 'never',
  },
  sats_forgotten: {
    meaning:
      'The database has the index of sats, and a reorganisation or a rollback is deeper than SATS_KEEP_BLOCKS. The spent outputs of these blocks are needed, but there is no node, or the node lacks blocks.',
    action:
      'Read in the message what is missing. Then use a node that is not pruned and has all blocks, including the stale ones. Without such a node, index into an empty database (another DATA_DIR or DATABASE_URL) with a larger SATS_KEEP_BLOCKS. The old database can still answer requests, with the role `api` or without a source.',
    retry: 'never',
  },
  tip_changed: {
    meaning:
      'This process did not write the indexed tip that the database now has, so another process wrote to the database.',
    action: 'Make sure that only one process indexes into the database, and start that process again.',
    retry: 'few',
    retryOnly: 'node',
  },
  rules_changed: {
    meaning:
      'Another version made the database, and its rules for texts or CBOR differ from the rules of this version.',
    action:
      'Index into a new database or data folder. The version that made the old database can still read it.',
    retry: 'never',
  },
  nothing_indexed: {
    meaning: 'The database has no block yet.',
    action:
      'Wait for the first sync. Without a node, index a folder of blocks with --blocks DIR, or start `npm run demo`.',
    retry: 'soon',
  },
  index_differs: {
    meaning: 'The index differs from the source.',
    action:
      'Read the differences on stdout. Then run `satscribe rollback --to HEIGHT` with a height below the first difference, and index again. Verify with the same SEARCH_TEXT_MAX_BYTES with which the blocks were indexed.',
    retry: 'never',
  },
  indexer_gone: {
    meaning: 'No process indexes into the database, or the process that does so has stopped reporting.',
    action:
      'Start `satscribe serve`, or a process with --role indexer, on that database. The log of the last such process says why it stopped.',
    retry: 'soon',
  },
  index_behind: {
    meaning: 'The index is further behind the source than READY_LAG_BLOCKS allows.',
    action:
      'Wait, because a first sync takes hours. If the lag does not become smaller, check the log and satscribe_step_duration_seconds.',
    retry: 'soon',
  },
  derived_tables_changed: {
    meaning: 'While a derived table caught up, blocks were written without it.',
    action: 'No action is needed, because the blocks are prepared again.',
    retry: 'replan',
  },
  derived_table_behind: {
    meaning:
      'The answer needs a derived table, but this table does not yet have all blocks that were indexed earlier (docs/runbook.md, "Derived tables").',
    action:
      'Try again after the number of seconds in Retry-After. `/status` shows the height that the table has reached, and what delays the table.',
    retry: 'soon',
  },
  index_missing: {
    meaning:
      'A filter of a list, or a request about an address, needs an index of the database that is not built yet. This happens during a first sync, or after an upgrade that adds such an index.',
    action:
      'Try again after the number of seconds in Retry-After, or request fewer heights. The process that indexes builds this index once it has caught up with the chain.',
    retry: 'soon',
  },
  sales_not_indexed: {
    meaning:
      'INDEX_SALES is false in the process that indexes, so sales are unknown. Sales that were indexed before are not shown, because later ones are missing.',
    action:
      'Set INDEX_SALES=true in the process that indexes, and start it again. It adds the missing sales in the background, from the last indexed ones on (docs/runbook.md, "Derived tables").',
    retry: 'never',
  },
  runes_not_indexed: {
    meaning:
      'INDEX_RUNES is false in the process that indexes, so runes are unknown. Runes that were indexed before are not shown, because later changes are missing.',
    action:
      'Set INDEX_RUNES=true in the process that indexes, and start it again. It adds the missing runes in the background, from the last indexed ones on (docs/runbook.md, "Derived tables").',
    retry: 'never',
  },
  events_not_ready: {
    meaning:
      'Events of older blocks need an index that is built at the end of the first load, which is still running. Or the tables of these events are still being filled, or rebuilt because their rules changed.',
    action: 'Wait. /status and the log show the progress.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

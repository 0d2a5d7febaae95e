import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the index of the chain. */
export const indexErrors = {
  address_index_fixed: {
    meaning:
      'The index of addresses is fixed as on or off with the first block, and the setting differs now.',
    action:
      'Set --index-addresses (INDEX_ADDRESSES) to the original value, or fill an empty database with the new one: another DATA_DIR or DATABASE_URL.',
    retry: 'never',
  },
  address_index_gap: {
    meaning: 'The index of addresses needs every block from height 0 on, and the source lacks some.',
    action: 'Leave --index-addresses out, or index a node that has all blocks, or a folder without gaps.',
    retry: 'never',
  },
  sat_index_fixed: {
    meaning: 'The index of sats is fixed as on or off with the first block, and the setting differs now.',
    action:
      'Set --index-sats (INDEX_SATS) to the original value, or fill an empty database with the new one: another DATA_DIR or DATABASE_URL.',
    retry: 'never',
  },
  sat_index_gap: {
    meaning: 'The index of sats needs every block from height 0 on, and the source lacks some.',
    action: 'Leave --index-sats out, or index a node that has all blocks, or a folder without gaps.',
    retry: 'never',
  },
  history_incomplete: {
    meaning:
      'Blocks are missing below the tip, so there are neither balances of runes nor cumulative hashes, which count from a first block on.',
    action:
      'Index every block from that first height on: from a node, or from a folder without gaps. `npm run demo -- --sample regtest` has a whole chain.',
    retry: 'never',
  },
  sats_forgotten: {
    meaning:
      'A reorganisation or a rollback is deeper than SATS_KEEP_BLOCKS, the database has the index of sats, and no node gives the spent outputs of the blocks: there is no node, or it lacks blocks.',
    action:
      'Name a node that has all blocks, the stale ones too, and is not pruned; the message says what is missing. Otherwise fill an empty database, with a larger SATS_KEEP_BLOCKS: another DATA_DIR or DATABASE_URL. The old one answers as before, as an `api` process or without a source.',
    retry: 'never',
  },
  tip_changed: {
    meaning: 'The indexed tip is not the one that this process wrote: something else wrote to the database.',
    action: 'Make sure that only one process indexes into the database, and start it again.',
    retry: 'few',
    retryOnly: 'node',
  },
  rules_changed: {
    meaning: 'The database was made with other rules for texts or CBOR than those of this version.',
    action:
      'Index into a new database or data folder; the old one stays readable for the version that made it.',
    retry: 'never',
  },
  nothing_indexed: {
    meaning: 'The database holds no block yet.',
    action:
      'Wait for the first sync; without a node, index a folder of blocks (--blocks DIR), or start `npm run demo`.',
    retry: 'soon',
  },
  index_differs: {
    meaning: 'The index differs from the source.',
    action:
      'Read the differences on stdout, run `satscribe rollback --to HEIGHT` with a height below the first one, and index again. Verify with the same SEARCH_TEXT_MAX_BYTES that the blocks were indexed with.',
    retry: 'never',
  },
  indexer_gone: {
    meaning: 'No process indexes into the database, or that process no longer reports.',
    action:
      'Start `satscribe serve` (or a process with --role indexer) on that database, and read the log of the last one.',
    retry: 'soon',
  },
  index_behind: {
    meaning: 'The index is further behind the source than READY_LAG_BLOCKS allows.',
    action:
      'Wait: a first sync takes hours. If the lag does not shrink, check the log and satscribe_step_duration_seconds.',
    retry: 'soon',
  },
  derived_tables_changed: {
    meaning: 'A derived table caught up while blocks were being written without it.',
    action: 'Nothing: the blocks are prepared again.',
    retry: 'replan',
  },
  derived_table_behind: {
    meaning:
      'The answer needs a derived table that is still being filled for blocks indexed earlier (docs/runbook.md, "Derived tables").',
    action:
      'Try again after the seconds that Retry-After names. `/status` shows the height that it has reached, and what delays it.',
    retry: 'soon',
  },
  index_missing: {
    meaning:
      'A filter of a list, or an address, needs an index that is still to be built: in a first sync, or after an upgrade that brought the index.',
    action:
      'Try again after the seconds that Retry-After names, or ask for fewer heights. The process that indexes builds it once it has caught up with the chain.',
    retry: 'soon',
  },
  sales_not_indexed: {
    meaning:
      'INDEX_SALES is false in the process that indexes, so sales are unknown. Sales that were indexed before are not shown, because later ones are missing.',
    action:
      'Set INDEX_SALES=true in that process, and start it again: sales are filled in from where they ended, in the background (docs/runbook.md, "Derived tables").',
    retry: 'never',
  },
  runes_not_indexed: {
    meaning:
      'INDEX_RUNES is false in the process that indexes, so runes are unknown. Runes that were indexed before are not shown, because later changes are missing.',
    action:
      'Set INDEX_RUNES=true in that process, and start it again: runes are filled in from where they ended, in the background (docs/runbook.md, "Derived tables").',
    retry: 'never',
  },
  events_not_ready: {
    meaning:
      'A first load is running: events of older blocks need an index that is built at its end. Or a catch-up pass still fills the tables of this kind of events, or rebuilds them by other rules.',
    action: 'Wait; /status and the log show the progress.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** What can be wrong with an index that needs every block from height 0 on. */
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
      'A reorganisation or a rollback is deeper than SATS_KEEP_BLOCKS, the database has the index of sats, and no node tells what the blocks spent: none is there, or it lacks blocks.',
    action:
      'Name a node that has all blocks, the stale ones too, and is not pruned; the message says what is missing. Otherwise fill an empty database, with a larger SATS_KEEP_BLOCKS: another DATA_DIR or DATABASE_URL. The old one answers as before, as an `api` process or without a source.',
    retry: 'never',
  },
} as const;

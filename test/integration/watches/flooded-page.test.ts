import { expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { blockHashOf, insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { matchBlock } from '#watches/following/match-arrivals.ts';
import { LiveWatches } from '#watches/matching/live-watches.ts';
import { readWatchCondition } from '#watches/reading/read-watch.ts';

test('a page on which more is found than fits in memory is stored in parts', async () => {
  const database = await createTestDatabase();
  try {
    const rows = Array.from({ length: 95 }, (_, nth) => ({ name: `flood ${nth}`, body: `flooded ${nth}` }));
    await insertChain(database.pool, [{ height: 0, rows }]);
    const read = readWatchCondition('search', { text: 'flooded' }, networks.regtest);
    if (read.kind === 'faulty') throw new Error('the search is refused');
    const watches = new LiveWatches();
    watches.change([{ id: 'flooded', since: 0, condition: read.condition }], []);
    const stored: number[] = [];
    let held = 0;
    const parts = {
      watches,
      readCollections: async () => [],
      found: () => held++,
      isFull: () => held >= 10,
      onPage: async () => {
        stored.push(held);
        held = 0;
      },
    };
    const block = { height: asHeight(0), hash: asBlockHash(blockHashOf(0)), first: 0, next: rows.length };
    await withTransaction(database.pool, (client) =>
      matchBlock({ client, ...parts }, { ...block, sequence: 1, isUndo: false, isInChain: true }, null),
    );
    expect(stored.filter((count) => count > 0)).toEqual([...Array.from({ length: 9 }, () => 10), 5]);
  } finally {
    await database.drop();
  }
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { PaymentsSession } from '#payments/follow/payments-session.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { countUnscanned, watchScripts } from '#payments/store/watches.store.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { SimulatedNode } from '#test/support/node/simulated-node.ts';

const golden = new GoldenChain('reorg-1');
const tipHeight = 120;
let database: TestDatabase;
let node: SimulatedNode;
let told: string[];

beforeEach(async () => {
  database = await createTestDatabase();
  node = new SimulatedNode(golden);
  node.setTip(golden.chain.tip, tipHeight);
  told = [];
});
afterEach(() => database.drop());

/** A script that is paid by the block at this height. */
function paidAt(height: number): Uint8Array {
  const { bytes } = golden.block(golden.chain.headers[height]!);
  return Uint8Array.from(RawTransactions.ofBlock(bytes).at(0).outputs[0]!.script);
}

/** Follows payments until there is nothing to do, at first and again after each change. */
async function followed(...changes: (() => Promise<void>)[]): Promise<void> {
  const client = await connectClient(database.url);
  const session = new PaymentsSession({
    client,
    source: node,
    node: null,
    signal: new AbortController().signal,
    onUnavailable: ({ code }) => told.push(code),
  });
  try {
    await session.load();
    while (await session.round());
    for (const change of changes) {
      await change();
      while (await session.round());
    }
  } finally {
    session.close();
    await client.end();
  }
}

const watch = (watcher: string, script: Uint8Array, sinceHeight: number): Promise<void> =>
  withTransaction(database.pool, (tx) =>
    watchScripts(tx, watcher, [{ script, sinceHeight: asHeight(sinceHeight) }]),
  );

async function heightsOf(watcher: string): Promise<unknown[]> {
  return (await readPayments(database.pool, watcher)).map(({ block }) => block?.height ?? null);
}

test('a watch whose old blocks were pruned does not hold up the old blocks of another', async () => {
  node.onRead = ({ height }) => {
    if (height < 105) throw new AppError('node_pruned', `The node has pruned block ${height}.`);
  };
  await followed(async () => {
    await watch('pruned', Buffer.alloc(22, 1), 1);
    await watch('later', paidAt(110), 110);
  });
  expect(await heightsOf('later')).toContain(110);
  // the problem is reported once, not in each round
  expect(told).toEqual(['node_pruned']);
  const { rows } = await database.pool.query<{ watcher: string; next_height: number | null }>(
    'SELECT watcher, next_height FROM service.watched_scripts ORDER BY watcher',
  );
  expect(rows).toEqual([
    { watcher: 'later', next_height: null },
    { watcher: 'pruned', next_height: 1 },
  ]);

  // watches that begin in old blocks are unscanned before they are picked up, too
  await watch('new', paidAt(100), 100);
  await watch('next', paidAt(100), tipHeight + 1);
  const unscanned = (...watchers: string[]): Promise<number> => countUnscanned(database.pool, watchers);
  expect([await unscanned('new'), await unscanned('next'), await unscanned('later')]).toEqual([1, 0, 0]);
  expect([await unscanned('pruned', 'next'), await countUnscanned(database.pool)]).toEqual([1, 2]);
});

test('a chain that grows while it is compared with the remembered blocks is compared again', async () => {
  await followed(() => watch('order', paidAt(100), 100));
  expect(await heightsOf('order')).toContain(100);
  // none of the remembered blocks is in the other chain
  await database.pool.query('DELETE FROM service.payment_blocks WHERE height < 110');
  node.invalid.add(displayHash(node.best[tipHeight]!.hash));
  node.setTip(golden.chain.staleBranches[0]!.tip);
  const tip = node.tip.bind(node);
  let asked = 0;
  // the first call asks whether the chain may return
  node.tip = () => (++asked === 2 ? Promise.resolve(node.best[50]!) : tip());
  await followed();
  expect(asked).toBeGreaterThan(2);
  expect(await heightsOf('order')).toContain(100);
  const { rows } = await database.pool.query('SELECT height FROM service.payments_offset');
  expect(rows).toEqual([{ height: node.best.length - 1 }]);
});

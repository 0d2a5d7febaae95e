import { afterAll, beforeAll, expect, test } from 'vitest';
import { followMempool } from '#indexer/mempool/follow/follow-mempool.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules, tip_height, tip_hash)
     VALUES ('regtest', $1, 1, 1, 0, $2)`,
    [Buffer.alloc(32, 7), Buffer.alloc(32)],
  );
});
afterAll(() => database.drop());

/** A node that refuses access until the test allows it. */
class RefusingNode {
  readonly url = 'http://node';
  letsIn = false;
  refused = 0;

  call<Result>(method: string): Promise<Result> {
    if (!this.letsIn) {
      this.refused++;
      return Promise.reject(new AppError('node_refused', 'The node denies access.'));
    }
    const answer =
      method === 'getrawmempool' ? { txids: ['ab'.repeat(32)], mempool_sequence: 2 } : '00'.repeat(32);
    return Promise.resolve(answer as Result);
  }
}

test('follows again, without a restart, once the node accepts the cookie', async () => {
  const node = new RefusingNode();
  const controller = new AbortController();
  const state = async (): Promise<
    { state: string; problem: string | null; transactions: number } | undefined
  > => {
    const { rows } = await database.pool.query<{
      state: string;
      problem: string | null;
      transactions: number;
    }>('SELECT state, problem, transactions FROM chain.mempool_state');
    return rows[0];
  };
  const end = followMempool({
    node: {
      rpc: node,
      facts: { zmq: new Map(), reveals: 'untested' as const },
      messages: { listen: () => () => undefined, close: async () => undefined },
      hasCookieFile: true,
    },
    pool: database.pool,
    network: networks.regtest,
    signal: controller.signal,
    log: silentLogger(),
    mendedEveryMs: 20,
  });
  await expect.poll(() => node.refused, { timeout: 10_000 }).toBeGreaterThan(2);
  expect(await state()).toMatchObject({ state: 'waiting', problem: 'The node denies access.' });
  node.letsIn = true;
  await expect.poll(async () => (await state())?.state, { timeout: 10_000 }).toBe('following');
  expect(await state()).toMatchObject({ problem: null, transactions: 1 });
  controller.abort();
  await end;
});

test('ends if the node refuses a password: it stays wrong until a restart with another one', async () => {
  const refusing = {
    rpc: new RefusingNode(),
    facts: { zmq: new Map(), reveals: 'untested' as const },
    messages: { listen: () => () => undefined, close: async () => undefined },
  };
  const end = followMempool({
    node: refusing,
    pool: database.pool,
    network: networks.regtest,
    signal: new AbortController().signal,
    log: silentLogger(),
  });
  await expect(end).rejects.toMatchObject({ code: 'node_refused' });
  expect(refusing.rpc.refused).toBe(1);
});

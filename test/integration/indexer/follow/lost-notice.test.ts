import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Publisher, Subscriber } from 'zeromq';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

/** Interval of polls in ms. It is longer than the test, so that only a message can wake the follower. */
const pollMs = 600_000;
/**
 * Position of the label in a message of the topic `sequence`, after the hash. `connected` means that a block was
 * connected (Bitcoin Core doc/zmq.md).
 */
const labelAt = 32;
const connected = 'C'.charCodeAt(0);

/** Forwards a node's messages. If a test wants this, it drops messages about blocks, like a full ZMQ queue. */
class LossyRelay {
  dropsBlocks = false;
  dropped = 0;
  endpoint = '';
  readonly #subscriber = new Subscriber({ linger: 0 });
  readonly #publisher = new Publisher({ linger: 0 });
  #passing: Promise<void> = Promise.resolve();

  static async between(endpoint: string): Promise<LossyRelay> {
    const relay = new LossyRelay();
    await relay.#publisher.bind('tcp://127.0.0.1:*');
    relay.endpoint = relay.#publisher.lastEndpoint ?? '';
    relay.#subscriber.connect(endpoint);
    relay.#subscriber.subscribe('sequence');
    relay.#passing = relay.#pass();
    return relay;
  }

  async close(): Promise<void> {
    this.#subscriber.close();
    await this.#passing;
    this.#publisher.close();
  }

  async #pass(): Promise<void> {
    for await (const frames of this.#subscriber) {
      if (this.dropsBlocks && frames[1]?.[labelAt] === connected) this.dropped++;
      else await this.#publisher.send(frames);
    }
  }
}

describe.skipIf(bitcoindForTests() === null)('a lost notice of a block', () => {
  let bitcoind: Bitcoind;
  let chain: RegtestChain;
  let database: TestDatabase;
  let relay: LossyRelay;
  beforeAll(async () => {
    bitcoind = await startBitcoind({ zmq: ['sequence'] });
    chain = await RegtestChain.start(bitcoind.rpc, 105);
    database = await createTestDatabase();
    relay = await LossyRelay.between(bitcoind.zmq);
  });
  afterAll(async () => {
    await relay.close();
    await bitcoind.remove();
    await database.drop();
  });

  const tip = async (): Promise<string | null> => {
    const { rows } = await database.pool.query<{ hash: Buffer | null }>(
      'SELECT tip_hash AS hash FROM chain.state',
    );
    return rows[0]?.hash == null ? null : displayHash(rows[0].hash);
  };
  const reaches = (hash: string): Promise<void> => expect.poll(tip, { timeout: 10_000 }).toBe(hash);

  test('is noticed by the gap in the numbers of the next message, and the node is asked at once', async () => {
    const node = await connectNode({ ...bitcoind.settings, zmq: relay.endpoint });
    const live = openNodeSource(node);
    let rests = 0;
    const source = {
      ...live,
      news: (timeoutMs: number, signal: AbortSignal) => {
        rests++;
        return live.news(timeoutMs, signal);
      },
    };
    const controller = new AbortController();
    const options = { signal: controller.signal, threads: parseThreads(), bounds: { pollMs } };
    const end = follow({ source, pool: database.pool, ...options });
    try {
      await reaches(await bitcoind.rpc.call<string>('getbestblockhash'));
      await expect.poll(() => rests, { timeout: 10_000 }).toBe(1);
      // one notice that arrives is enough
      const heard = await chain.mine();
      await reaches(heard.hash);
      // the follower's queries after a block are answered before the next block arrives
      await expect.poll(() => rests, { timeout: 10_000 }).toBe(2);
      relay.dropsBlocks = true;
      const unheard = await chain.mine();
      await expect.poll(() => relay.dropped).toBe(1);
      // nothing should happen, so there is no condition to wait for
      await sleep(500);
      expect(await tip()).toBe(heard.hash);
      // a transaction in the mempool is not a notice of a block, but it skips a number
      const { commit } = await chain.inscribe({ contentType: 'text/plain', body: 'x' });
      await chain.broadcast(commit);
      await reaches(unheard.hash);
    } finally {
      controller.abort();
      await end;
      await source.close();
    }
  });
});

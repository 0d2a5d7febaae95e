import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** A real node with a chain, and an index that follows it. */
export interface IndexedNode {
  readonly bitcoind: Bitcoind;
  readonly chain: RegtestChain;
  readonly database: TestDatabase;
  readonly tracer: SatTracer;
  /** Settles when the index is at the node's best block, and can prove the contents of outputs. */
  atTip(): Promise<void>;
  close(): Promise<void>;
}

export async function startIndexedNode(options: Partial<FollowOptions> = {}): Promise<IndexedNode> {
  const bitcoind = await startBitcoind({ zmq: [], txindex: false });
  const chain = await RegtestChain.start(bitcoind.rpc);
  const database = await createTestDatabase();
  const node = await connectNode(bitcoind.settings);
  const source = openNodeSource(node);
  const controller = new AbortController();
  const end = follow({
    source,
    pool: database.pool,
    signal: controller.signal,
    threads: parseThreads(),
    bounds: { pollMs: 50 },
    indexAddresses: true,
    indexRunes: true,
    ...options,
  });
  let failure: { error: unknown } | null = null;
  end.catch((error: unknown) => {
    failure = { error };
  });
  return {
    bitcoind,
    chain,
    database,
    tracer: new SatTracer(new NodeTraceSource(node.rpc, source)),
    atTip: async () => {
      const best = await bitcoind.rpc.call<string>('getbestblockhash');
      await waitUntil(async () => {
        if (failure !== null) return true;
        // a first load must build these indexes before runes, galleries and sales are known
        const { rows } = await database.pool.query<{ tip_hash: Buffer | null; is_built: boolean }>(
          `SELECT tip_hash, (
             SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
             WHERE c.relname = ANY($1) AND i.indisvalid) = cardinality($1) AS is_built
           FROM chain.state`,
          [
            [
              'rune_balances_outpoint',
              'gallery_pages_ids',
              'sales_key',
              'sales_txid',
              'sales_maker',
              'sales_taker',
            ],
          ],
        );
        const [state] = rows;
        return state?.tip_hash != null && state.is_built && displayHash(state.tip_hash) === best;
      });
      if (failure !== null) throw failure.error;
    },
    close: async () => {
      controller.abort();
      await end;
      await source.close();
      await database.drop();
      await bitcoind.remove();
    },
  };
}

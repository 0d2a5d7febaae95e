import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { compareDumps } from '#test/chaos/checks/compare.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';
import { type OrderOfTest, verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const firstOwner = 50_000;
const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');
const runMs = 400_000;

interface Ordered extends OrderOfTest {
  readonly address: string;
  readonly amount: number;
}

describe.skipIf(bitcoindForTests() === null)(
  'a machine that has only the seed and the rows of orders',
  () => {
    let lost: OrderService;
    let restored: OrderService | null = null;
    beforeAll(async () => {
      lost = await OrderService.start();
    }, runMs);
    afterAll(async () => {
      await restored?.close();
      await lost?.close();
    });

    const made: Ordered[] = [];

    /** Makes an order of two files. It has a commit, and two reveals if the inscriptions must not be cursed. */
    async function order(name: string, isUncursed = false): Promise<Ordered> {
      const owner = firstOwner + 2 * made.length;
      const contents = [`${name} 0`, `${name} 1`];
      const answer = await lost.post('/inscribe', {
        files: contents.map((content, index) => ({
          name: `${index}.txt`,
          size: content.length,
          dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
        })),
        receiveAddress: addressOf(owner),
        refundAddress: addressOf(owner + 1),
        fee: 2,
        uncurseIt: isUncursed,
      });
      const { id } = (await answer.json()) as OrderShown;
      const { charge } = await lost.order(id);
      const ordered = { id, contents, receivers: [hexOf(owner)], refund: hexOf(owner + 1), ...charge };
      made.push(ordered);
      return ordered;
    }

    const pay = ({ address, amount }: Ordered, more = 0) => lost.chain.payAddress(address, amount + more);
    const states = async ({ database }: OrderService): Promise<Record<string, string>> => {
      const { rows } = await database.pool.query<{ id: string; state: string }>(
        'SELECT id, state FROM service.orders',
      );
      return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
    };
    const until = (service: OrderService, { id }: Ordered, state: string) =>
      service.eventually(async () => (await states(service))[id] === state);

    /** Lets an order expire. */
    const expire = ({ database }: OrderService, { id }: Ordered) =>
      database.pool.query('UPDATE service.orders SET expires_at = now(), look_at = now() WHERE id = $1', [
        id,
      ]);

    test(
      'finds the coins of every open order and advances it; its new index equals that of the lost one',
      async () => {
        const { chain } = lost;
        const delivered = await order('delivered before');
        await pay(delivered);
        await chain.mineMempool();
        await until(lost, delivered, 'queued');
        await lost.eventually(async () => {
          await chain.mineMempool();
          return (await states(lost))[delivered.id] === 'completed';
        });
        const late = await order('refunded after');
        await expire(lost, late);
        await until(lost, late, 'expired');
        const [queued, wallet] = [await order('revealed, not mined'), await order('from the wallet', true)];
        await pay(queued);
        await pay(wallet, 40_000);
        await chain.mineMempool();
        await until(lost, queued, 'queued');
        await until(lost, wallet, 'queued');
        const seen = await order('seen, in no block');
        await pay(seen);
        await until(lost, seen, 'waiting-confirmation');
        const [unpaid, missed] = [await order('paid after'), await order('mined while no process looked')];
        await lost.kill();

        restored = await lost.elsewhere();
        // these transactions are only in the saved rows, because the new node has an empty mempool
        await lost.bitcoind.stop();
        await lost.bitcoind.start();
        await pay(missed);
        await chain.mineMempool();
        await chain.takeBack(1);
        await chain.mineMempool();
        await restored.begin();
        await pay(unpaid);
        await pay(late);
        const { pool } = restored.database;
        const ends = new Set(['completed', 'refunded']);
        await restored.eventually(async () => {
          const open = Object.entries(await states(restored!)).filter(([, state]) => !ends.has(state));
          const entries = await Promise.all(made.map(({ id }) => readEntries(pool, { kind: 'order', id })));
          const isOwed = entries.some((each) => (balancesOf(each).get('owed') ?? 0n) > 0n);
          // a block in every round would always leave a block that is not followed yet
          if (open.length === 0 && !isOwed) return areOrdersFollowed(pool, chain.rpc);
          await chain.mineMempool();
          if (open.length > 0) throw new Error(`${JSON.stringify(open)}\n${restored!.stderr()}`);
          return false;
        });
        const money = await ChainMoney.read(chain.rpc);
        for (const each of made) {
          const { faults, isDelivered } = await verdictOfOrder(pool, money, each);
          expect(faults).toEqual([]);
          expect(isDelivered).toBe(each !== late);
        }
        expect((await auditOrders({ database: pool, node: chain.rpc })).differences).toEqual([]);
        await restored.kill();
        await indexAgain(lost);
        expect(await compareDumps(lost.database.pool, pool)).toEqual([]);
      },
      runMs,
    );
  },
);

/** Indexes the chain of a service that was killed up to the node's tip. No process advances the service's orders. */
async function indexAgain(service: OrderService): Promise<void> {
  const {
    bitcoind,
    database: { pool },
  } = service;
  const node = await connectNode(bitcoind.settings);
  const source = openNodeSource(node, { firstHeight: genesisHeight });
  const controller = new AbortController();
  const end = follow({ source, pool, signal: controller.signal, threads: parseThreads() });
  const best = await bitcoind.rpc.call<string>('getbestblockhash');
  await service.eventually(async () => {
    const { rows } = await pool.query<{ tip: Buffer }>('SELECT tip_hash AS tip FROM chain.state');
    return displayHash(rows[0]!.tip) === best;
  });
  controller.abort();
  await end;
  await source.close();
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { refundedAtOnce } from '#orders/making/plan-refund.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import { Payer } from '#test/support/orders/payer.ts';

interface Case {
  readonly name: string;
  readonly run: (payer: Payer) => Promise<unknown>;
  /** What becomes of it; a delivery may leave a refund of what was too much. */
  readonly ends:
    | 'delivered'
    | 'delivered, the rest refunded'
    | 'delivered, and the dust refunded once fees allow it'
    | 'refunded'
    | 'nothing was paid'
    | 'dust stays owed';
  /** Terms of the order beside its text. */
  readonly terms?: Partial<OrderTerms>;
  /** What the service earns; default: its base fee. Too much below dust is more, each further input is less. */
  readonly revenue?: number;
}

const oneBitcoin = 100_000_000;
/** The most descendants that a coin of a payer has in the mempool, by nodes before Core 31. */
const ancestorsMax = 24;

const cases: readonly Case[] = [
  { name: 'exactly', run: (payer) => payer.pay(payer.amount), ends: 'delivered' },
  {
    name: 'in three parts',
    run: async (payer) => {
      for (const value of [1000, 1000, payer.amount - 2000]) await payer.pay(value);
    },
    ends: 'delivered',
    revenue: 1770,
  },
  {
    name: 'short, and topped up',
    run: async (payer) => {
      await payer.pay(payer.amount - 500);
      await payer.mine();
      await payer.pay(500);
    },
    ends: 'delivered',
    revenue: 1886,
  },
  {
    name: 'short, and with what is then missing, where an input costs more than the service earns',
    terms: { feeRate: 100_000n },
    run: async (payer) => {
      await payer.pay(payer.amount - 8000);
      await payer.mine();
      await payer.until('waiting-payment');
      await payer.world.eventually(async () => (await payer.missing()) > 8000);
      await payer.pay(await payer.missing());
    },
    ends: 'delivered',
    revenue: 330,
  },
  {
    name: 'in so many parts that their inputs cost more than they hold, and then exactly',
    terms: { feeRate: 100_000n },
    run: async (payer) => {
      await payer.payParts(59, 350);
      await payer.mine();
      await payer.pay(payer.amount);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, and a stranger sends dust whose inputs are dear',
    terms: { feeRate: 10_000n },
    run: async (payer) => {
      await payer.pay(payer.amount);
      await payer.payParts(12, 330);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, uncursed, and a stranger sends dust',
    terms: { feeRate: 25_000n, uncurse: true },
    run: async (payer) => {
      await payer.payParts(4, 330);
      await payer.pay(payer.amount);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, and a stranger sends more dust than a transaction has room for',
    terms: { feeRate: 1000n },
    run: async (payer) => {
      await payer.payParts(1800, 330);
      await payer.pay(payer.amount);
      await payer.mine();
      await payer.until('queued');
      await payer.world.sent(payer.order.id);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'too little for its transactions, as an earlier version left it, and then more',
    run: async (payer) => {
      await payer.pay(payer.amount - 600);
      await payer.world.database.pool.query(
        `UPDATE service.orders SET state = 'error', error = $2 WHERE id = $1`,
        [payer.order.id, 'The payment is 940 sats short of what the transaction costs.'],
      );
      await payer.pay(600);
    },
    ends: 'delivered',
    revenue: 1884,
  },
  {
    name: 'short when the time is over',
    run: async (payer) => {
      await payer.pay(payer.amount - 1);
      await payer.mine();
      await payer.expire();
    },
    ends: 'refunded',
  },
  {
    name: 'short, and after its refund by so little that it is never worth sending back',
    run: async (payer) => {
      await payer.pay(payer.amount - 1);
      await payer.mine();
      await payer.expire();
      await payer.until('waiting-refund');
      await payer.world.sent(payer.order.id, ['refund']);
      await payer.pay(400);
    },
    ends: 'refunded',
  },
  { name: '1 sat too much', run: (payer) => payer.pay(payer.amount + 1), ends: 'delivered', revenue: 2001 },
  {
    name: 'too much by less than dust',
    run: (payer) => payer.pay(payer.amount + 329),
    ends: 'delivered',
    revenue: 2329,
  },
  {
    name: '1 BTC too much',
    run: (payer) => payer.pay(payer.amount + oneBitcoin),
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'twice before it is delivered',
    run: async (payer) => {
      await payer.pay(payer.amount);
      await payer.pay(payer.amount);
    },
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'a second time while it is being delivered',
    run: async (payer) => {
      await payer.revealed();
      await payer.pay(payer.amount);
    },
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'a second time after it is delivered',
    run: async (payer) => {
      await payer.delivered();
      await payer.pay(payer.amount);
    },
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'late',
    run: async (payer) => {
      await payer.expire();
      await payer.until('expired');
      await payer.pay(payer.amount);
    },
    ends: 'refunded',
  },
  {
    name: 'in time, and known only after dust of a stranger came to the order that had expired',
    run: async (payer) => {
      const { bitcoind, chain } = payer.world;
      const { txid } = await payer.pay(payer.amount);
      await payer.until('waiting-confirmation');
      const hex = await chain.rpc.call<string>('getrawtransaction', [txid]);
      await bitcoind.restart();
      await payer.until('waiting-payment');
      await payer.expire();
      await payer.until('expired');
      await payer.pay(330);
      await payer.mine();
      await payer.until('waiting-refund');
      await chain.rpc.call('sendrawtransaction', [hex]);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'late, in more parts than one refund spends',
    run: async (payer) => {
      await payer.expire();
      await payer.until('expired');
      await payer.payParts(2 * refundedAtOnce + 1, 2000);
      await payer.mine();
      for (let refunds = 1; refunds <= 3; refunds++) {
        await payer.world.eventually(async () => {
          const found = await payer.world.customerOrders.read(payer.order.id);
          // the next one may be made before the block
          return (found?.transactions.filter(({ kind }) => kind === 'refund').length ?? 0) >= refunds;
        });
        await payer.world.sent(payer.order.id, ['refund']);
        await payer.mine();
      }
    },
    ends: 'refunded',
  },
  {
    name: 'after it was cancelled',
    run: async (payer) => {
      expect(await payer.world.customerOrders.cancel(payer.order.id)).toBe(true);
      await payer.pay(payer.amount);
    },
    ends: 'refunded',
  },
  {
    name: 'replaced by as much for a higher fee',
    run: async (payer) => {
      const payment = await payer.pay(payer.amount);
      await payer.until('waiting-confirmation');
      await payer.replace(payment, payer.amount);
    },
    ends: 'delivered',
  },
  {
    name: 'replaced by more',
    run: async (payer) => {
      await payer.replace(await payer.pay(payer.amount), payer.amount + 10_000);
    },
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'replaced by less',
    run: async (payer) => {
      const payment = await payer.pay(payer.amount);
      await payer.until('waiting-confirmation');
      await payer.replace(payment, payer.amount - 600);
      await payer.until('waiting-payment');
      await payer.mine();
      await payer.expire();
    },
    ends: 'refunded',
  },
  {
    name: 'replaced by a payment to somebody else',
    run: async (payer) => {
      const payment = await payer.pay(payer.amount);
      await payer.until('waiting-confirmation');
      await payer.replace(payment, null);
      await payer.until('waiting-payment');
      await payer.expire();
    },
    ends: 'nothing was paid',
  },
  {
    name: 'replaced by a payment to somebody else after our reveal, whose block is gone',
    run: async (payer) => {
      const payment = await payer.revealed();
      await payer.world.chain.takeBack(1);
      await payer.replace(payment, null);
      await payer.mine();
      await payer.mine();
      await payer.until('waiting-payment');
      await payer.expire();
    },
    ends: 'nothing was paid',
  },
  {
    name: 'replaced after our reveal, and paid again',
    run: async (payer) => {
      const payment = await payer.revealed();
      await payer.world.chain.takeBack(1);
      await payer.replace(payment, null);
      await payer.mine();
      await payer.mine();
      await payer.until('waiting-payment');
      await payer.pay(payer.amount);
    },
    ends: 'delivered',
  },
  {
    name: 'a second time, which is paid back, while a reorganisation lets the first payment be replaced',
    run: async (payer) => {
      const { world, order, amount } = payer;
      const first = await payer.revealed();
      await payer.mine();
      await payer.until('completed');
      const second = await payer.pay(amount);
      await payer.mine();
      await world.sent(order.id, ['refund']);
      await payer.mine();
      const { rows } = await world.database.pool.query<{ txid: Buffer }>(
        `SELECT txid FROM service.wallet_transactions WHERE order_id = $1 AND kind = 'refund'`,
        [order.id],
      );
      const refund = rows[0]!.txid.reverse().toString('hex');
      await world.chain.takeBack(4);
      // another branch has the second payment with its refund, and the first one is not in a block again
      await world.bitcoind.rpc.call('generateblock', ['raw(51)', [second.txid, refund]]);
      await payer.replace(first, amount);
      await payer.mine();
    },
    ends: 'delivered, the rest refunded',
  },
  {
    name: 'with a payment that the mempool forgets',
    run: async (payer) => {
      await payer.pay(payer.amount);
      await payer.until('waiting-confirmation');
      await payer.world.bitcoind.restart();
      await payer.mine();
      await payer.until('waiting-payment');
      await payer.pay(payer.amount);
    },
    ends: 'delivered',
  },
  {
    name: 'with a payment that was never in our mempool',
    run: async ({ world, order, amount }) => {
      const coin = await world.chain.coin();
      const change = { value: coin.value - amount - 1000, to: coin.owner };
      await world.chain.mine([transaction([coin], [{ value: amount, outputScript: order.script }, change])]);
    },
    ends: 'delivered',
  },
  {
    name: 'with a payment that is mined while the service is down',
    run: async (payer) => {
      await payer.world.stop();
      await payer.pay(payer.amount);
      await payer.mine();
      await payer.mine();
      await payer.world.follow();
    },
    ends: 'delivered',
  },
  {
    name: 'with nothing and with dust, and then exactly',
    run: async (payer) => {
      await payWorthless(payer);
      await payer.pay(payer.amount);
    },
    ends: 'delivered',
  },
  {
    name: 'with nothing and with dust alone',
    run: async (payer) => {
      await payWorthless(payer);
      await payer.expire();
    },
    ends: 'dust stays owed',
  },
  {
    name: 'with a payment of version 3, whose children nodes bound',
    run: async ({ world, order, amount }) => {
      const coin = await world.chain.coin();
      const change = { value: coin.value - amount - 1000, to: coin.owner };
      const payments = [{ value: amount, outputScript: order.script }, change];
      await world.chain.broadcast(transaction([coin], payments, undefined, 3));
    },
    ends: 'delivered',
  },
  {
    name: 'with the last payment that a chain of unconfirmed ones may have',
    run: async ({ world, order, amount }) => {
      let coin = await world.chain.coin();
      for (let ancestors = 0; ancestors < ancestorsMax; ancestors++) {
        const made = transaction([coin], [{ value: coin.value - 1000, to: coin.owner }]);
        await world.chain.broadcast(made);
        coin = made.coin(0);
      }
      const change = { value: coin.value - amount - 1000, to: coin.owner };
      await world.chain.broadcast(
        transaction([coin], [{ value: amount, outputScript: order.script }, change]),
      );
    },
    ends: 'delivered',
  },
];

/** Outputs that count for nothing: no node relays them. */
async function payWorthless({ world, order }: Payer): Promise<void> {
  const coin = await world.chain.coin();
  const change = { value: coin.value - 329 - 1000, to: coin.owner };
  const outputs = [0, 329].map((value) => ({ value, outputScript: order.script }));
  await world.chain.mine([transaction([coin], [...outputs, change])]);
}

const firstOwner = 30_000;
/** Not worth sending back at any rate. */
const worthlessMax = 440n;
const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

describe.skipIf(bitcoindForTests() === null)('an order that is paid', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    // a node that has restarted has an empty mempool
    world = await OrderWorld.start({ extra: ['-persistmempool=0'] });
  });
  afterAll(() => world?.close());

  /** Mines until the order is where it stays. */
  async function settle(
    { order, world: { chain, customerOrders, database } }: Payer,
    owedMax = worthlessMax,
  ): Promise<void> {
    const ends = ['completed', 'refunded', 'expired', 'waiting-refund'];
    await world.eventually(async () => {
      await chain.mineMempool();
      await world.eventually(() => areOrdersFollowed(database.pool, chain.rpc));
      const found = await customerOrders.read(order.id);
      const owed =
        balancesOf(await readEntries(database.pool, { kind: 'order', id: order.id })).get('owed') ?? 0n;
      if (!ends.includes(found!.order.state) || owed > owedMax)
        throw new Error(`${found!.order.state} with ${owed} sats owed\n${world.logged.join('')}`);
      return true;
    });
  }

  test('late, with a refund to an address of the service: waits for another address', async () => {
    const { database, customerOrders, chain } = world;
    const { order: other } = await customerOrders.create(wantedOrder(['another']));
    const { order } = await customerOrders.create({
      ...wantedOrder(['to itself']),
      refundScript: other.script,
    });
    const payer = new Payer(world, order);
    await payer.expire();
    await payer.until('expired');
    await payer.pay(payer.amount);
    await payer.mine();
    await payer.until('waiting-refund');
    await world.wake(order.id);
    await world.eventually(() => areOrdersFollowed(database.pool, chain.rpc));
    expect((await customerOrders.read(order.id))!.transactions).toEqual([]);
    await refundOrder(database.pool, order.id, scriptOf(firstOwner - 1));
    await world.sent(order.id, ['refund']);
    await payer.mine();
    await payer.until('refunded');
  });

  test.each(cases.map((each, place) => ({ ...each, place })))(
    '$name: $ends',
    async ({ place, name, run, ends, terms = {}, revenue = 2000 }) => {
      const from = await world.chain.height();
      const [receiver, refund] = [firstOwner + 2 * place, firstOwner + 2 * place + 1];
      const wanted = {
        ...wantedOrder([name], { ...terms, receivers: [scriptOf(receiver)] }),
        refundScript: scriptOf(refund),
      };
      const { order } = await world.customerOrders.create(wanted);
      const payer = new Payer(world, order);
      await run(payer);
      // what the node estimates by the fees of other cases is more or less than dust is worth
      const isDustLeft = ends === 'delivered, and the dust refunded once fees allow it';
      await settle(payer, isDustLeft ? 1_000_000n : worthlessMax);
      const chain = await ChainMoney.read(world.bitcoind.rpc, Math.max(1, from - 1));
      const ofTest = { id: order.id, contents: [name], receiver: hexOf(receiver), refund: hexOf(refund) };
      const { fate, faults, lost, state } = await verdictOfOrder(world.database.pool, chain, ofTest);
      expect(faults).toEqual([]);
      expect(lost).toBe(0);
      const isRefunded =
        ends === 'refunded' || ends === 'delivered, the rest refunded' || (isDustLeft && fate.refunded > 0);
      expect({ delivered: fate.delivered, isRefunded: fate.refunded > 0, state }).toEqual({
        delivered: ends.startsWith('delivered') ? [546] : [],
        isRefunded,
        state:
          { refunded: 'refunded', 'nothing was paid': 'expired', 'dust stays owed': 'waiting-refund' }[
            ends as string
          ] ?? 'completed',
      });
      if (ends === 'delivered') expect(fate.kept).toBe(revenue);
      expect(
        (await auditOrders({ database: world.database.pool, node: world.bitcoind.rpc })).differences,
      ).toEqual([]);
    },
  );
});

import { expect } from 'vitest';
import { refundedAtOnce } from '#orders/making/plan-refund.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { Payer } from '#test/support/orders/payer.ts';
import type { PaidKindName, WantedTerms } from './paid-kinds.ts';

/** A way to pay an order, and the expected end of the order. */
export interface PaymentCase {
  readonly name: string;
  readonly run: (payer: Payer) => Promise<unknown>;
  /** The expected end. A delivery may also refund the excess. */
  readonly ends:
    | 'delivered'
    | 'delivered, the rest refunded'
    | 'delivered, and the dust refunded once fees allow it'
    | 'refunded'
    | 'nothing was paid'
    | 'dust stays owed';
  /** Terms of the order, apart from its files. */
  readonly terms?: WantedTerms;
  /** Kinds of orders that the case applies to. Default: all. */
  readonly of?: readonly PaidKindName[];
}

/** Kinds for cases that only concern payments. Special sats are spent in addition, by the same rules in all cases. */
const ofPayments: readonly PaidKindName[] = ['direct orders', 'managed orders'];

const oneBitcoin = 100_000_000;
/** Maximum number of unconfirmed descendants that nodes before Core 31 accept for a coin. */
const ancestorsMax = 24;

/** Cases with right and wrong payments, where nothing else happens on the chain. */
export const paymentCases: readonly PaymentCase[] = [
  { name: 'exactly', run: (payer) => payer.pay(payer.amount), ends: 'delivered' },
  {
    name: 'in three parts',
    run: async (payer) => {
      for (const value of [1000, 1000, payer.amount - 2000]) await payer.pay(value);
    },
    ends: 'delivered',
  },
  {
    name: 'short, and topped up',
    run: async (payer) => {
      await payer.pay(payer.amount - 500);
      await payer.mine();
      await payer.pay(500);
    },
    ends: 'delivered',
  },
  {
    name: 'short, and with the missing sats, if an input costs more than the service earns',
    // other kinds also get a share of the fees, which pays for the additional input
    of: ['direct orders'],
    terms: { feeRate: 100_000n },
    run: async (payer) => {
      await payer.pay(payer.amount - 8000);
      await payer.mine();
      await payer.until('waiting-payment');
      await payer.world.eventually(async () => (await payer.missing()) > 8000);
      await payer.pay(await payer.missing());
    },
    ends: 'delivered',
  },
  {
    name: 'in many parts whose inputs cost more than they hold, and then exactly',
    of: ofPayments,
    terms: { feeRate: 100_000n },
    run: async (payer) => {
      await payer.payParts(59, 350);
      await payer.mine();
      await payer.pay(payer.amount);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, and a stranger sends dust whose inputs are expensive',
    of: ofPayments,
    terms: { feeRate: 10_000n },
    run: async (payer) => {
      await payer.pay(payer.amount);
      await payer.payParts(12, 330);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, uncursed, and a stranger sends dust',
    of: ofPayments,
    terms: { feeRate: 25_000n, uncurse: true },
    run: async (payer) => {
      await payer.payParts(4, 330);
      await payer.pay(payer.amount);
    },
    ends: 'delivered, and the dust refunded once fees allow it',
  },
  {
    name: 'exactly, and a stranger sends more dust than a transaction has room for',
    of: ofPayments,
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
    // the earlier version had only this kind
    of: ['direct orders'],
    run: async (payer) => {
      await payer.pay(payer.amount - 600);
      await payer.world.database.pool.query(
        `UPDATE service.orders SET state = 'error', error = $2 WHERE id = $1`,
        [payer.order.id, 'The payment is 940 sats short of what the transaction costs.'],
      );
      await payer.pay(600);
    },
    ends: 'delivered',
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
    name: 'short, and after its refund by too little for another refund',
    of: ofPayments,
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
  { name: '1 sat too much', run: (payer) => payer.pay(payer.amount + 1), ends: 'delivered' },
  {
    name: 'too much by less than dust',
    run: (payer) => payer.pay(payer.amount + 329),
    ends: 'delivered',
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
    name: 'in time, but known only after dust of a stranger arrived at the expired order',
    of: ofPayments,
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
    of: ofPayments,
    run: async (payer) => {
      await payer.expire();
      await payer.until('expired');
      await payer.payParts(2 * refundedAtOnce + 1, 2000);
      await payer.mine();
      for (let refunds = 1; refunds <= 3; refunds++) {
        await payer.world.eventually(async () => {
          const found = await payer.world.customerOrders.read(payer.order.id);
          // the next refund may be made before the block is mined
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
    name: 'replaced by the same amount with a higher fee',
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
    name: 'replaced by a payment to another address',
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
    name: 'replaced by a payment to another address after our reveal, whose block is gone',
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
    name: 'a second time, which is refunded, while a reorganisation lets the first payment be replaced',
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
      // the new branch has the second payment with its refund, and the first payment is not mined again
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
    of: ofPayments,
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
    of: ofPayments,
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

/** Pays with outputs that are too small to count, and that no node relays. */
async function payWorthless({ world, order }: Payer): Promise<void> {
  const coin = await world.chain.coin();
  const change = { value: coin.value - 329 - 1000, to: coin.owner };
  const outputs = [0, 329].map((value) => ({ value, outputScript: order.script }));
  await world.chain.mine([transaction([coin], [...outputs, change])]);
}

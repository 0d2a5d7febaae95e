import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { hexOf, settlementsOf } from '#orders/ledger/settlements.ts';
import { storedPlan } from '#orders/making/sign-and-store.ts';
import type { OrderTransaction, OrderTransactionKind } from '#orders/order/order-transactions.store.ts';
import { balancesOf, entriesOf, type Receipt } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { dummyKeys, makeOrder, orders, somePrices } from '../inscribing/made-orders.ts';

const mined = (kind: OrderTransactionKind, plan: TransactionPlan, index: number): OrderTransaction => ({
  txid: dummyKeys.txidOf(plan),
  kind,
  index,
  files: 0,
  plan: storedPlan(plan, []),
  fee: Number(plan.feeMax),
  height: null,
  madeAt: new Date(0),
  sentAt: null,
  refusal: null,
});

test('the sats of a delivered order are postage, fees and ours, burned or not', () => {
  fc.assert(
    fc.property(orders, somePrices, (terms, given) => {
      const quote = quoteOrder(terms, given);
      if (quote.kind === 'refused') return;
      const { commit, reveals, burns } = makeOrder(terms, quote);
      const transactions = [
        ...(commit === null ? [] : [mined('commit', commit, 0)]),
        ...reveals.map((plan, index) => mined('reveal', plan, index)),
        ...burns.map((plan, index) => mined('burn', plan, index)),
      ];
      const made = new Set(transactions.map(({ txid }) => hexOf(txid)));
      const plans = [...(commit === null ? [] : [commit]), ...reveals];
      const isParent = (value: bigint): boolean => terms.parents.some((parent) => parent.value === value);
      const brought = plans
        .flatMap(({ inputs }) => inputs)
        .filter(({ txid }) => !made.has(hexOf(txid)))
        .map(({ txid, vout, value, leafScript }): Receipt => {
          const isDeposit = leafScript === null && value !== quote.amount && isParent(value);
          return { to: isDeposit ? 'deposit' : 'owed', txid: hexOf(txid), vout, value };
        });
      const deposits = new Set(
        plans
          .flatMap(({ inputs }) => inputs)
          .filter(({ txid }) =>
            brought.some((receipt) => receipt.to === 'deposit' && receipt.txid === hexOf(txid)),
          )
          .map(outpointOf),
      );
      const settled = settlementsOf(transactions, {
        excess: null,
        given: new Set(),
        deposits,
        ours: new Set(),
      });
      const balances = balancesOf(entriesOf(brought, settled));
      const of = (name: Parameters<typeof balances.get>[0]): bigint => balances.get(name) ?? 0n;
      const fees = [...plans, ...burns].reduce((sum, { feeMax }) => sum + feeMax, 0n);
      expect([of('owed'), of('deposit')]).toEqual([0n, 0n]);
      expect(of('postage')).toBe(quote.postage * BigInt(quote.count));
      expect(of('fee')).toBe(fees);
      expect(of('service') + of('operator')).toBe(quote.amount - of('postage') - fees);
      expect(-of('outside')).toBe(quote.amount);
    }),
    { numRuns: propertyRuns(200) },
  );
});

import assert from 'node:assert/strict';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import type { OwedMoney } from './settlements.ts';

/**
 * An output of a commit that holds the money of one file or mint: what its transaction costs, and what the service
 * takes for it.
 */
export interface FileMoney extends OwedMoney {
  /** Index of the file, or place of the mint. */
  readonly file: number;
}

type Terms = Pick<Order, 'terms'>['terms'];
type Transactions = readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[];

/**
 * The money of each file of an order on sats of the inventory, or of each mint, by the commit that may be mined, or is:
 * such an order has a transaction for each, and the commit an output for each of them, in their order. None of other
 * orders. Pure.
 */
export function moneyOfFiles({ inventory, mint }: Terms, transactions: Transactions): readonly FileMoney[] {
  const commit = transactions.find(({ kind }) => kind === 'commit');
  const count = mint?.count ?? [inventory ?? []].flat().length;
  if (count === 0 || commit === undefined) return [];
  const { txid, plan } = commit;
  const money = plan.outputs.flatMap(({ kind, value, script }, vout): FileMoney[] =>
    kind === 'commit'
      ? [
          {
            file: vout,
            txid,
            vout,
            value: BigInt(value),
            owed: BigInt(value),
            at: 'commit',
            commitScript: script,
          },
        ]
      : [],
  );
  assert(
    money.length === count && money.every(({ file }, place) => file === place),
    'a commit has an output for each sat of the inventory, or each mint, and these are its first ones',
  );
  return money;
}

/** Files or mints whose money a refund spends that may be mined, or is: their transactions can never be. Pure. */
export function refundedFiles(terms: Terms, transactions: Transactions): readonly number[] {
  const refunded = spentBy(transactions, 'refund');
  return moneyOfFiles(terms, transactions)
    .filter((money) => refunded.has(outpointOf(money)))
    .map(({ file }) => file);
}

/** How many files or mints are refunded, or minted nothing: no partner gets a share for them. Pure. */
export const undelivered = (
  { terms }: Pick<Order, 'terms'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan' | 'isFailed'>[],
): number =>
  refundedFiles(terms, transactions).length + transactions.filter(({ isFailed }) => isFailed === true).length;

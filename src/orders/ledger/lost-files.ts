import assert from 'node:assert/strict';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import type { OwedMoney } from './settlements.ts';

/**
 * An output of a commit with the money of one file or mint. The money is the cost of the file's or mint's transaction,
 * and the service's share of its price.
 */
export interface FileMoney extends OwedMoney {
  /** Index of the file, or number of the mint. */
  readonly file: number;
}

type Terms = Pick<Order, 'terms'>['terms'];
type Transactions = readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[];

/**
 * The money of each file of an order on inventory sats, or of each mint of an order, in the order's commit. Such an
 * order has one transaction for each file or mint. The commit has one output for each transaction, in the same
 * sequence. Empty for other orders, and without a commit that is or may be mined. Pure.
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

/**
 * Files or mints whose money is spent by a refund that is or may be mined. The transactions of these files or mints can
 * then no longer be mined. Pure.
 */
export function refundedFiles(terms: Terms, transactions: Transactions): readonly number[] {
  const refunded = spentBy(transactions, 'refund');
  return moneyOfFiles(terms, transactions)
    .filter((money) => refunded.has(outpointOf(money)))
    .map(({ file }) => file);
}

/**
 * Number of files or mints that are refunded, and of mints that minted nothing. No partner gets a share for these files
 * and mints. Pure.
 */
export const undelivered = (
  { terms }: Pick<Order, 'terms'>,
  transactions: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan' | 'isFailed'>[],
): number =>
  refundedFiles(terms, transactions).length + transactions.filter(({ isFailed }) => isFailed === true).length;

import { displayHash } from '#kernel/primitives/hash.ts';
import type { PlacedMoney } from '#orders/following/place-money.ts';
import type { OrderRecords } from '#orders/following/read-records.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { entriesOf, type LedgerEntry, type Receipt, type Settlement } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { undelivered } from './lost-files.ts';
import { sharesOf, withShares } from './partner-shares.ts';
import {
  bumpSettlements,
  hexOf,
  isClosing,
  settlementOfStranded,
  settlementsOf,
  strandedCommit,
} from './settlements.ts';

/**
 * The ledger entries of an order: payments and deposits in blocks, the delivery once it is final, and mined refunds,
 * returns and bumps. Pure.
 */
export function orderEntries(
  order: Order,
  records: Pick<
    OrderRecords,
    'payments' | 'deposits' | 'transactions' | 'isRevealed' | 'mined' | 'bumps' | 'commitHeight' | 'etching'
  >,
  money: Pick<PlacedMoney, 'excess' | 'given' | 'rests'>,
): LedgerEntry[] {
  const { payments, deposits, bumps } = records;
  return entriesOf(
    [
      ...payments.flatMap((payment) => receiptOf(payment, 'owed')),
      ...deposits.flatMap(({ payment }) => receiptOf(payment, 'deposit')),
    ],
    [...settlementsFor(order, records, money), ...bumpSettlements(bumps)],
  );
}

const receiptOf = ({ txid, vout, value, block }: WatchedPayment, to: Receipt['to']): Receipt[] =>
  block === null ? [] : [{ txid: hexOf(txid), vout, value, to }];

/** Settlements of the final delivery, of a mined stranded commit, and of mined refunds and returns. */
function settlementsFor(
  order: Order,
  {
    deposits,
    transactions,
    isRevealed,
    mined,
    commitHeight,
    etching,
  }: Pick<OrderRecords, 'deposits' | 'transactions' | 'isRevealed' | 'mined' | 'commitHeight' | 'etching'>,
  { excess, given, rests }: Pick<PlacedMoney, 'excess' | 'given' | 'rests'>,
): readonly Settlement[] {
  const facts = {
    excess,
    given: new Set(given.map(outpointOf)),
    deposits: new Set(deposits.map(({ payment }) => outpointOf(payment))),
    ours: new Set(rests.ours.map(outpointOf)),
  };
  const delivered = settlementsOf(isRevealed ? transactions.filter((made) => !isClosing(made)) : [], facts);
  const closed = transactions.filter((made) => isClosing(made) && mined.has(displayHash(made.txid)));
  // if nothing was etched, the service keeps no revenue, so there is nothing to share
  const shares = etching?.isNameLost === true ? [] : sharesOf(order, undelivered(order, transactions));
  const stranded = strandedCommit(transactions);
  return [
    ...withShares(delivered, shares),
    ...(stranded !== null && commitHeight !== null ? [settlementOfStranded(stranded)] : []),
    ...settlementsOf(closed, facts),
  ];
}

import { displayHash } from '#kernel/primitives/hash.ts';
import { p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import {
  excessOf,
  givenBack,
  givenByFailedMints,
  isClosing,
  movedExcess,
  type OwedMoney,
  restsOf,
  strandedCommit,
} from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isDeep, type OrderPayment } from '#orders/order/order-facts.ts';
import { isHolding, type PaidHolding } from '#orders/parents/returns.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { orderPayments } from './order-payments.ts';
import type { OrderRecords } from './read-records.ts';

/** The money of an order, grouped by where it is. */
export interface PlacedMoney {
  /** The payments to the order's address as facts, in the sequence of the records. */
  readonly seen: readonly OrderPayment[];
  /** Outputs that stored transactions spend. */
  readonly spent: ReadonlySet<string>;
  /** The customer's excess payment, in the output of the delivery that holds it; null if there is no excess. */
  readonly excess: OwedMoney | null;
  /** Our outputs of a delivery that belong entirely to the customer. */
  readonly given: readonly OwedMoney[];
  readonly rests: ReturnType<typeof restsOf>;
  /** Unspent payments with an inscription or a rune, deep enough to be spent. They are not money of the order. */
  readonly holding: readonly PaidHolding[];
  /**
   * Customers' money in outputs that no stored transaction spends, and that are deep enough in the chain to be spent.
   * The index shows that payments among these outputs contain only sats.
   */
  readonly owed: readonly OwedMoney[];
  /** Our money in outputs that no stored transaction spends, without excess payments. */
  readonly ours: readonly OwedMoney[];
  /** Sats of the customer that no stored transaction spends. Payments below the dust limit are not included. */
  readonly unspentSats: bigint;
  /** Whether an inscription or a rune waits, or may wait, for its return. No stored transaction spends it. */
  readonly isHoldingDeposits: boolean;
  /** Whether the change of an earlier return or refund is not in a block yet. */
  readonly isMoneyComing: boolean;
  /**
   * Whether blocks contain unspent money or deposits that cannot be spent yet. Either they are not deep enough, or the
   * index does not have them.
   */
  readonly isMoneyShallow: boolean;
}

/** Finds the outputs that hold the money of an order. Pure. */
export function placeMoney(order: Pick<Order, 'amount' | 'request'>, records: OrderRecords): PlacedMoney {
  const { payments, deposits, transactions, bumps, lent, depth, isRevealed, mined, held } = records;
  const { commitHeight, etching } = records;
  const alive = bumps.filter(({ isDead }) => !isDead);
  const spent = spentBy([...transactions, ...alive]);
  const left = payments.filter((payment) => payment.goneAt === null && !spent.has(outpointOf(payment)));
  const deep = left.filter(({ block }) => isDeep({ height: block?.height ?? null }, depth));
  const known = deep.filter((payment) => held.get(outpointOf(payment))?.isIndexed === true);
  const holding = known.flatMap((payment): PaidHolding[] => {
    const found = held.get(outpointOf(payment));
    if (found?.isHolding !== true) return [];
    const { isParent, inscriptions, runes } = found;
    return [{ payment, isParent, inscriptions, runes }];
  });
  const holders = new Set(holding.map(({ payment }) => outpointOf(payment)));
  const plain = known.filter((payment) => !holders.has(outpointOf(payment)));
  const isNameLost = etching?.isNameLost === true;
  const bumped = spentBy(alive);
  const etched =
    isRevealed && etching !== null
      ? givenBack(transactions, isNameLost).filter((output) => !bumped.has(outpointOf(output)))
      : [];
  const given = isRevealed ? [...etched, ...givenByFailedMints(transactions)] : [];
  const givenAway = new Set(given.map(outpointOf));
  const excess = isRevealed && etched.length === 0 ? excessOf(order, transactions) : null;
  const movedTo = excess === null ? null : movedExcess(excess, bumps);
  const rests = restsOf(transactions);
  const isFree = (output: OwedMoney): boolean => !spent.has(outpointOf(output));
  const isExcess = (output: OwedMoney): boolean =>
    excess !== null && outpointOf(excess) === outpointOf(output);
  const isPromised = (output: OwedMoney): boolean =>
    givenAway.has(outpointOf(output)) || lent.has(outpointOf(output));
  const closings = new Set<string>(transactions.filter(isClosing).map(({ txid }) => displayHash(txid)));
  const stranded = strandedCommit(transactions);
  const isMined = ({ txid }: OwedMoney): boolean => {
    // a refund spends the commit only once the commit is as deep as a payment must be
    if (txid === stranded?.txid) return isDeep({ height: commitHeight }, depth);
    return !closings.has(displayHash(txid)) || mined.has(displayHash(txid));
  };
  const isUsable = (rest: OwedMoney): boolean => isFree(rest) && isMined(rest);
  return {
    seen: orderPayments(order, records),
    spent,
    excess,
    given,
    rests,
    holding,
    owed: [
      ...plain.map(({ txid, vout, value }): OwedMoney => ({ txid, vout, value, owed: value, at: 'address' })),
      ...(movedTo === null ? [] : [movedTo]).filter(isFree),
      ...given.filter(isFree),
      ...rests.theirs.filter(isUsable),
    ],
    ours: isRevealed
      ? rests.ours.filter((rest) => isUsable(rest) && !isExcess(rest) && !isPromised(rest))
      : [],
    unspentSats: valueOf([...left.filter(({ value }) => value >= p2trDust), ...rests.theirs.filter(isFree)]),
    isHoldingDeposits: isHolding({ deposits, spent, holding }),
    isMoneyComing: [...rests.theirs, ...rests.ours].some((rest) => isFree(rest) && !isMined(rest)),
    isMoneyShallow:
      rests.theirs.some((rest) => rest.txid === stranded?.txid && isFree(rest) && !isMined(rest)) ||
      left.some((payment) => payment.block !== null && !known.includes(payment)) ||
      deposits.some(({ state, payment }) => state === 'seen' && payment.block !== null),
  };
}

import type { RowDifference } from '#collections/selling/sold-rows.queries.ts';

/** Items of a collection that an order holds. */
export interface HeldItems {
  readonly order: string;
  readonly phase: string;
  readonly isPaid: boolean;
  readonly numbers: readonly number[];
}

/** A sale at one moment, according to its rows and to the index. */
export interface SaleSeen {
  readonly id: string;
  readonly supply: number;
  /** Number of items that each phase sells. Phases without such a number are left out. */
  readonly roomOfPhases: ReadonlyMap<string, number>;
  /** Orders that have items now, according to the rows of orders. */
  readonly held: readonly HeldItems[];
  /** The order of each taken item, according to the rows of items. */
  readonly orderOfItem: ReadonlyMap<number, string>;
  /** Number of inscriptions of each inscribed item. */
  readonly inscribed: ReadonlyMap<number, number>;
  /** Counters that differ from their rows. */
  readonly counters: readonly RowDifference[];
}

/** Faults of a sale. A sale must have no faults at any moment. Pure. */
export function saleFaults(sale: SaleSeen): string[] {
  const { id, supply, held, inscribed, counters } = sale;
  const sold = countOf(held.filter(({ isPaid }) => isPaid));
  const found = [
    ...(sold > supply ? [`sold ${sold} of ${supply} items`] : []),
    ...(countOf(held) > supply ? [`${countOf(held)} of ${supply} items are with orders`] : []),
    ...fullPhases(sale),
    ...sharedItems(sale),
    ...[...inscribed].flatMap(([item, times]) =>
      times > 1 ? [`item ${item} is inscribed ${times} times`] : [],
    ),
    // items that returned with a signed delivery may exceed the allowance (ADR 90)
    ...counters
      .filter(({ kind }) => kind !== 'allowance')
      .map(({ kind, where, noted, found: rows }) => `${kind} ${where ?? ''} says ${noted}, rows ${rows}`),
  ];
  return found.map((fault) => `${id}: ${fault}`);
}

/** Items that two orders have, that do not exist, or whose rows name another order. */
function sharedItems({ supply, held, orderOfItem }: SaleSeen): string[] {
  const holder = new Map<number, string>();
  const found: string[] = [];
  for (const { order, numbers } of held) {
    for (const item of numbers) {
      const other = holder.get(item);
      if (other !== undefined) found.push(`item ${item} is in the orders ${other} and ${order}`);
      holder.set(item, order);
      const named = orderOfItem.get(item);
      if (named !== order) found.push(`item ${item} is in the order ${order}, and its row names ${named}`);
      if (item < 1 || item > supply) found.push(`the order ${order} has item ${item} of ${supply}`);
    }
  }
  for (const [item, order] of orderOfItem)
    if (!holder.has(item)) found.push(`the row of item ${item} names ${order}, which has none`);
  return found;
}

function fullPhases({ roomOfPhases, held }: SaleSeen): string[] {
  return [...roomOfPhases].flatMap(([phase, room]) => {
    const taken = countOf(held.filter((order) => order.phase === phase));
    return taken > room ? [`the phase ${phase} gave ${taken} of ${room} items`] : [];
  });
}

const countOf = (held: readonly HeldItems[]): number =>
  held.reduce((sum, { numbers }) => sum + numbers.length, 0);

/** An order of items at the end of a run, with its deliveries on the chain. */
export interface EndedItems {
  readonly order: string;
  readonly collection: string;
  readonly numbers: readonly number[];
  readonly isDelivered: boolean;
}

/**
 * Faults of items after the end of all orders. An item must be inscribed once if an order with it was delivered,
 * otherwise never. Only the delivered orders may keep their items. Pure.
 */
export function endedSaleFaults({ id, held, inscribed }: SaleSeen, orders: readonly EndedItems[]): string[] {
  const delivered = orders.filter(({ collection, isDelivered }) => collection === id && isDelivered);
  const buyers = new Map<number, number>();
  for (const { numbers } of delivered)
    for (const item of numbers) buyers.set(item, (buyers.get(item) ?? 0) + 1);
  const items = new Set([...buyers.keys(), ...inscribed.keys()]);
  const paid = new Set(held.filter(({ isPaid }) => isPaid).map(({ order }) => order));
  const got = new Set(delivered.map(({ order }) => order));
  return [
    ...[...items]
      .filter((item) => buyers.get(item) !== 1 || inscribed.get(item) !== 1)
      .map(
        (item) =>
          `item ${item} is inscribed ${inscribed.get(item) ?? 0} times, for ${buyers.get(item) ?? 0} orders`,
      ),
    ...[...paid.difference(got)].map((order) => `the order ${order} has its items for good, and no delivery`),
    ...[...got.difference(paid)].map((order) => `the order ${order} was delivered, and has no items`),
  ].map((fault) => `${id}: ${fault}`);
}

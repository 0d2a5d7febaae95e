/** A phase of a sale in its current state. */
export interface Phase {
  readonly phase: string;
  /** Index of the phase in the creator's order. */
  readonly place: number;
  /** Maximum number of items that the phase sells. Null if the phase may sell all free items. */
  readonly items: number | null;
  /** Number of items that belong to orders of the phase. */
  readonly taken: number;
  readonly isPublic: boolean;
  /** Price of an item in sats, which the creator receives. Null if the collection's price applies. */
  readonly price: bigint | null;
  /** Start, included. Null if the phase starts with the approval. */
  readonly startsAt: Date | null;
  /** End, not included. Null if the phase has no end. */
  readonly endsAt: Date | null;
}

/** The items that a phase allows a listed address to buy. */
export interface Allowance {
  readonly phase: string;
  /** Maximum number of items that the address may pay for. Null if only the phase's own items limit the number. */
  readonly items: number | null;
  /** Number of items that the address has paid for. */
  readonly paid: number;
}

export interface WantedItems {
  readonly count: number;
  /** Allowances of the receiving address. If a phase has no allowance here, it does not list the address. */
  readonly allowances: readonly Allowance[];
  readonly now: Date;
}

export interface Sale {
  /** Price of an item in sats, for phases without a price of their own. */
  readonly price: bigint;
  /** Number of items that do not belong to an order. */
  readonly free: number;
  readonly phases: readonly Phase[];
}

type ChosenPhase =
  | {
      readonly kind: 'phase';
      readonly phase: Phase;
      readonly price: bigint;
      /** A cheaper phase that would sell fewer items to this address. Null if there is no such phase. */
      readonly cheaper: CheaperPhase | null;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** A cheaper phase that cannot sell the whole order, because it has too few items or allows the address fewer items. */
export interface CheaperPhase {
  readonly phase: string;
  /** Price of an item in sats, which the creator receives. */
  readonly price: bigint;
  /** Number of items that the phase would sell to the address. */
  readonly items: number;
}

/**
 * Chooses the phase that sells the items: the cheapest open phase that the address may use and that has enough items.
 * Among equally cheap phases, a phase with a list wins, then the first phase. Only a payment uses up the allowance of
 * an address; the creation of an order does not. Pure.
 */
export function choosePhase({ price, free, phases }: Sale, wanted: WantedItems): ChosenPhase {
  const open = phases.filter((phase) => isOpen(phase, wanted.now));
  if (free < wanted.count) return refused(freeWords(free));
  if (open.length === 0) return refused(closedReason(phases, wanted.now));
  const found = open.map((phase) => ({ phase, problem: problemOf(phase, wanted) }));
  const usable = found.filter(({ problem }) => problem === null).map(({ phase }) => phase);
  const [best] = usable.toSorted((a, b) => compare(a.price ?? price, b.price ?? price) || preference(a, b));
  if (best !== undefined) {
    const paid = best.price ?? price;
    return { kind: 'phase', phase: best, price: paid, cheaper: cheaperOf(open, price, paid, wanted) };
  }
  return refused([...new Set(found.flatMap(({ problem }) => problem ?? []))].join(' '));
}

/** Whether a phase is open at a moment. Pure. */
export const isOpen = ({ startsAt, endsAt }: Pick<Phase, 'startsAt' | 'endsAt'>, now: Date): boolean =>
  (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt);

/**
 * Number of items that a listed address may still pay for. Returns null if only the phase's own items limit the number.
 * Pure.
 */
export const leftOf = ({ items, paid }: Pick<Allowance, 'items' | 'paid'>): number | null =>
  items === null ? null : Math.max(0, items - paid);

const refused = (reason: string): ChosenPhase => ({ kind: 'refused', reason });

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const preference = (a: Phase, b: Phase): number =>
  Number(a.isPublic) - Number(b.isPublic) || a.place - b.place;

/**
 * Selects the open phase below a price that would sell the most items to this address. Returns null if there is no such
 * phase.
 */
function cheaperOf(
  open: readonly Phase[],
  price: bigint,
  paid: bigint,
  { count, allowances }: WantedItems,
): CheaperPhase | null {
  const cheaper = open.flatMap((phase) => {
    const each = phase.price ?? price;
    const allowance = allowances.find((of) => of.phase === phase.phase);
    if (each >= paid || (allowance === undefined && !phase.isPublic)) return [];
    const allowed = phase.isPublic || allowance === undefined ? null : leftOf(allowance);
    const items = Math.min(count, allowed ?? count, (phase.items ?? Infinity) - phase.taken);
    return items <= 0 ? [] : [{ phase: phase.phase, price: each, items }];
  });
  return cheaper.toSorted((a, b) => b.items - a.items || compare(a.price, b.price))[0] ?? null;
}

/** Returns why an open phase does not sell this order to its address, or null if it does. */
function problemOf(phase: Phase, { count, allowances }: WantedItems): string | null {
  const { phase: name, isPublic, items, taken } = phase;
  if (!isPublic) {
    const allowance = allowances.find((of) => of.phase === name);
    if (allowance === undefined) return `Phase ${name} sells only to the addresses of its list.`;
    const left = leftOf(allowance);
    if (left !== null && left < count)
      return `Phase ${name} allows this address ${allowance.items ?? 0} items, and ${allowance.paid} of these items are paid for.`;
  }
  if (items !== null && items - taken < count)
    return `Phase ${name} has only ${items - taken} free items. Its other items are sold, or reserved by unpaid orders.`;
  return null;
}

const freeWords = (free: number): string =>
  free === 0
    ? 'The collection is sold out. Items of orders that are not paid in time become free again.'
    : `The collection has only ${free} free items. Its other items are sold, or reserved by unpaid orders.`;

function closedReason(phases: readonly Phase[], now: Date): string {
  const [next] = phases
    .flatMap(({ phase, startsAt }) => (startsAt !== null && startsAt > now ? [{ phase, startsAt }] : []))
    .toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
  return next === undefined
    ? 'The sale is over, because no phase is open or will open.'
    : `No phase is open now. Phase ${next.phase} opens at ${next.startsAt.toISOString()}.`;
}

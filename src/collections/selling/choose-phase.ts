/** A phase of a sale in its present state. */
export interface Phase {
  readonly phase: string;
  /** In the order of the creator's list. */
  readonly place: number;
  /** Items that it sells; null: all that are left. */
  readonly items: number | null;
  /** Items that its orders have. */
  readonly taken: number;
  readonly isPublic: boolean;
  /** Sats an item for the creator; null: the price of the collection. */
  readonly price: bigint | null;
  /** Start, included. Null: from the approval on. */
  readonly startsAt: Date | null;
  /** End, not included. Null: without end. */
  readonly endsAt: Date | null;
}

/** The items that a phase allows an address of its list. */
export interface Allowance {
  readonly phase: string;
  /** Items that the address may pay for; null: as many as the phase has. */
  readonly items: number | null;
  /** Items that it has paid for. */
  readonly paid: number;
}

export interface WantedItems {
  readonly count: number;
  /** Allowances of the receiving address, by phase; absent: the phase does not list it. */
  readonly allowances: readonly Allowance[];
  readonly now: Date;
}

export interface Sale {
  /** Sats an item, for phases without a price of their own. */
  readonly price: bigint;
  /** Items that no order has. */
  readonly free: number;
  readonly phases: readonly Phase[];
}

type ChosenPhase =
  | {
      readonly kind: 'phase';
      readonly phase: Phase;
      readonly price: bigint;
      /** A cheaper phase that would sell fewer items to this address; null: there is no such phase. */
      readonly cheaper: CheaperPhase | null;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** A cheaper phase that has too few items left for the whole order, or allows the address fewer. */
export interface CheaperPhase {
  readonly phase: string;
  /** Sats an item for the creator. */
  readonly price: bigint;
  /** Items that it would sell to the address. */
  readonly items: number;
}

/**
 * The phase that sells. Among open phases with room that the address may use, it is the cheapest; among equals one that
 * lists the address, then the first. Naming an address takes nothing of its allowance: only a payment does. Pure.
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

/** Whether a phase sells at a moment. Pure. */
export const isOpen = ({ startsAt, endsAt }: Pick<Phase, 'startsAt' | 'endsAt'>, now: Date): boolean =>
  (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt);

/** Items that a listed address may still pay for; null: as many as the phase has. Pure. */
export const leftOf = ({ items, paid }: Pick<Allowance, 'items' | 'paid'>): number | null =>
  items === null ? null : Math.max(0, items - paid);

const refused = (reason: string): ChosenPhase => ({ kind: 'refused', reason });

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const preference = (a: Phase, b: Phase): number =>
  Number(a.isPublic) - Number(b.isPublic) || a.place - b.place;

/** The phase below a price that would sell the most items to an address with a smaller order. */
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

/** Why an open phase does not sell to this address; null: it does. */
function problemOf(phase: Phase, { count, allowances }: WantedItems): string | null {
  const { phase: name, isPublic, items, taken } = phase;
  if (!isPublic) {
    const allowance = allowances.find((of) => of.phase === name);
    if (allowance === undefined) return `Phase ${name} sells only to the addresses of its list.`;
    const left = leftOf(allowance);
    if (left !== null && left < count)
      return `Phase ${name} allows this address ${allowance.items ?? 0} items, and ${allowance.paid} of them are paid for.`;
  }
  if (items !== null && items - taken < count)
    return `Free items of phase ${name}: ${items - taken}. The others are sold, or reserved by orders that are not paid yet.`;
  return null;
}

const freeWords = (free: number): string =>
  free === 0
    ? 'The collection is sold out. Items of orders that are not paid in time become free again.'
    : `Free items of the collection: ${free}. The others are sold, or reserved by orders that are not paid yet.`;

function closedReason(phases: readonly Phase[], now: Date): string {
  const [next] = phases
    .flatMap(({ phase, startsAt }) => (startsAt !== null && startsAt > now ? [{ phase, startsAt }] : []))
    .toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
  return next === undefined
    ? 'The sale is over: no phase is open, and none follows.'
    : `No phase is open now: phase ${next.phase} opens at ${next.startsAt.toISOString()}.`;
}

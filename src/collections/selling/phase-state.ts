import type { Phase } from './choose-phase.ts';

/**
 * The state of a phase at a moment. `full`: the phase is open, but all of its items belong to orders. Items of unpaid
 * orders may become free again.
 */
export type PhaseState = 'later' | 'open' | 'full' | 'over';

type TimedPhase = Pick<Phase, 'startsAt' | 'endsAt' | 'items' | 'taken'>;

/** Number of items that a phase can still sell. Pure. */
export const leftInPhase = ({ items, taken }: Pick<Phase, 'items' | 'taken'>, free: number): number =>
  items === null ? free : Math.min(free, items - taken);

/**
 * The state of a phase. Pure.
 *
 * @param free number of items of the collection that do not belong to an order
 */
export function phaseStateAt(phase: TimedPhase, free: number, now: Date): PhaseState {
  const { startsAt, endsAt } = phase;
  if (endsAt !== null && endsAt <= now) return 'over';
  if (startsAt !== null && startsAt > now) return 'later';
  return leftInPhase(phase, free) === 0 ? 'full' : 'open';
}

/** A collection that is or was for sale. */
export interface SoldSupply {
  readonly isClosed: boolean;
  /** Whether its price is in a rune without a receiver. Only collections of earlier versions have such a price. */
  readonly isInRunes: boolean;
  readonly total: number;
  /** Number of items that belong to orders. */
  readonly taken: number;
  /** Number of items that belong to unpaid orders. */
  readonly unpaid: number;
}

/**
 * The state of a sale at a moment:
 * - `sold out`: all items are paid for.
 * - `reserved`: the remaining items belong to unpaid orders.
 * - `later`: no phase has started yet.
 * - `between`: no phase is open, and another phase follows.
 * - `over`: no phase is open, and no other phase follows.
 * - `runes`: the price in runes has no receiver.
 */
export type SaleState = 'closed' | 'runes' | 'sold out' | 'reserved' | 'open' | 'later' | 'between' | 'over';

/** The state of a sale. Pure. */
export function saleStateAt(supply: SoldSupply, phases: readonly TimedPhase[], now: Date): SaleState {
  const { isClosed, isInRunes, total, taken, unpaid } = supply;
  if (total === taken && unpaid === 0) return 'sold out';
  if (isClosed) return 'closed';
  if (isInRunes) return 'runes';
  const states = phases.map((phase) => phaseStateAt(phase, total - taken, now));
  if (states.includes('open')) return 'open';
  if (states.includes('full')) return 'reserved';
  if (!states.includes('later')) return 'over';
  return states.every((state) => state === 'later') ? 'later' : 'between';
}

/** The next moment at which a phase opens or ends. Returns null if there is no such moment. Pure. */
export function nextChange(phases: readonly TimedPhase[], now: Date): Date | null {
  const moments = phases
    .flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])
    .filter((moment) => moment !== null)
    .filter((moment) => moment > now);
  return moments.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null;
}

import { smallest } from '#kernel/bitcoin/amount.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';

/** What an order bears of the bumps that replace each other, of which one is mined. */
export interface SpentOnFamily {
  readonly orderId: string;
  readonly family: Txid;
  readonly fee: bigint;
}

/** The largest fee of bumps that replace each other. */
export interface FamilyCost {
  readonly family: Txid;
  readonly fee: bigint;
  /** The newest of them was made within a day. */
  readonly isOfToday: boolean;
}

/** Bounds of the sats that bumps may cost. */
export interface BumpBudgets {
  /** One order (ORDER_BUMP_MAX_SATS); 0: nothing is paid for. */
  readonly maxSats: bigint;
  /** All orders within a day (ORDER_BUMP_DAY_MAX_SATS). */
  readonly dayMaxSats: bigint;
  /** All orders within `revenueDays`, as a percentage of the revenue of these days (ORDER_BUMP_REVENUE_PERCENT). */
  readonly revenuePercent: bigint;
}

/** Long enough for fees to rise and fall again, short enough that revenue of better days pays for nothing. */
export const revenueDays = 30;
/** Sats beside the share of the revenue: a service that has just begun has none. */
export const revenueAllowance = 100_000n;
/**
 * Bound of an order by what it earns. A file at the usual price (2,000 sats) may cost 8,000: a reveal of 300 virtual
 * bytes pays 26 sat/vB more with it. Cheap orders are many, and would cost more than they bring.
 */
const costPerEarned = 3n;
const costOfAny = 2_000n;

/** Bound of the bumps of an order, by what the service earns by it. Pure. */
export const boundByEarned = (earned: bigint): bigint => costOfAny + costPerEarned * largest(earned, 0n);

/** Bound of all bumps of `revenueDays`, by the revenue of these days. Pure. */
export const boundByRevenue = (revenue: bigint, { revenuePercent }: BumpBudgets): bigint =>
  revenueAllowance + (largest(revenue, 0n) * revenuePercent) / 100n;

/** Bounds that all orders share. */
export type SharedBound = 'day' | 'revenue';

export interface BudgetFacts {
  /** Sats that each order earns. */
  readonly earned: ReadonlyMap<string, bigint>;
  /** Sats booked as revenue within `revenueDays`. */
  readonly revenue: bigint;
  readonly spent: readonly SpentOnFamily[];
  /** All within `revenueDays`. */
  readonly families: readonly FamilyCost[];
}

/** Costs of bumps and their bounds, in sats, for operators. */
export interface BumpFigures {
  readonly cost: Readonly<Record<SharedBound, bigint>>;
  readonly budget: Readonly<Record<SharedBound, bigint>>;
}

/** Sums what all bumps cost. Pure. */
export function bumpFigures(
  budgets: BumpBudgets,
  { revenue, families }: Pick<BudgetFacts, 'revenue' | 'families'>,
): BumpFigures {
  const sum = (costs: readonly FamilyCost[]): bigint => costs.reduce((all, { fee }) => all + fee, 0n);
  return {
    cost: { day: sum(families.filter(({ isOfToday }) => isOfToday)), revenue: sum(families) },
    budget: { day: budgets.dayMaxSats, revenue: boundByRevenue(revenue, budgets) },
  };
}

/**
 * Budgets of orders, each by itself and together, counted down with each bump that is stored. An order bears the
 * largest share of a family: any of its bumps may be mined.
 */
export class Budgets {
  readonly #budgets: BumpBudgets;
  readonly #earned: BudgetFacts['earned'];
  readonly #revenue: bigint;
  /** By order, then by family. */
  readonly #spent = new Map<string, Map<string, bigint>>();
  readonly #families = new Map<string, Omit<FamilyCost, 'family'>>();

  constructor(budgets: BumpBudgets, { earned, revenue, spent, families }: BudgetFacts) {
    this.#budgets = budgets;
    this.#earned = earned;
    this.#revenue = revenue;
    for (const { orderId, family, fee } of spent) this.#bear(displayHash(family), orderId, fee);
    for (const { family, ...cost } of families) this.#families.set(displayHash(family), cost);
  }

  /** Bound of one order; `isByEarned`: what it earns allows no more. */
  boundOf(orderId: string): { readonly sats: bigint; readonly isByEarned: boolean } {
    const byEarned = boundByEarned(this.#earned.get(orderId) ?? 0n);
    const isByEarned = byEarned < this.#budgets.maxSats;
    return { sats: isByEarned ? byEarned : this.#budgets.maxSats, isByEarned };
  }

  /** @param replaced what this family has spent is free again for the next one of it; null: none is replaced */
  of(orderIds: Iterable<string>, replaced: Txid | null = null): ReadonlyMap<string, bigint> {
    const family = replaced === null ? null : displayHash(replaced);
    const left = new Map<string, bigint>();
    for (const id of orderIds) {
      let budget = this.boundOf(id).sats;
      for (const [of, fee] of this.#spent.get(id) ?? []) if (of !== family) budget -= fee;
      left.set(id, largest(budget, 0n));
    }
    return left;
  }

  /** Sats that all orders together may still cost, and the bound that says so. */
  shared(replaced: Txid | null = null): {
    readonly sats: bigint;
    readonly bound: SharedBound;
    readonly of: bigint;
  } {
    const family = replaced === null ? null : displayHash(replaced);
    let today = 0n;
    let all = 0n;
    for (const [of, { fee, isOfToday }] of this.#families) {
      if (of === family) continue;
      all += fee;
      if (isOfToday) today += fee;
    }
    const { dayMaxSats } = this.#budgets;
    const byRevenue = boundByRevenue(this.#revenue, this.#budgets);
    const left = largest(smallest(dayMaxSats - today, byRevenue - all), 0n);
    return dayMaxSats - today <= byRevenue - all
      ? { sats: left, bound: 'day', of: dayMaxSats }
      : { sats: left, bound: 'revenue', of: byRevenue };
  }

  /** A bump of this family is stored, and costs orders so much. */
  spend(family: Txid, shares: ReadonlyMap<string, bigint>): void {
    const key = displayHash(family);
    let fee = 0n;
    for (const [id, share] of shares) {
      this.#bear(key, id, share);
      fee += share;
    }
    const before = this.#families.get(key)?.fee ?? 0n;
    this.#families.set(key, { fee: largest(before, fee), isOfToday: true });
  }

  #bear(family: string, orderId: string, share: bigint): void {
    const families = this.#spent.get(orderId) ?? new Map<string, bigint>();
    families.set(family, largest(families.get(family) ?? 0n, share));
    this.#spent.set(orderId, families);
  }
}

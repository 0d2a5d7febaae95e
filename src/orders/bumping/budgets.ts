import { smallest } from '#kernel/bitcoin/amount.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';

/** Fee that an order bears for a family: bumps that replace each other, one of which is mined. */
export interface SpentOnFamily {
  readonly orderId: string;
  readonly family: Txid;
  readonly fee: bigint;
}

/** The largest fee in a family of bumps that replace each other. */
export interface FamilyCost {
  readonly family: Txid;
  readonly fee: bigint;
  /** The newest bump of the family was made within a day. */
  readonly isOfToday: boolean;
}

/** Bounds of the sats that bumps may cost. */
export interface BumpBudgets {
  /** One order (ORDER_BUMP_MAX_SATS); 0: no bumps. */
  readonly maxSats: bigint;
  /** All orders within a day (ORDER_BUMP_DAY_MAX_SATS). */
  readonly dayMaxSats: bigint;
  /** All orders within `revenueDays`, as a percentage of the revenue of these days (ORDER_BUMP_REVENUE_PERCENT). */
  readonly revenuePercent: bigint;
}

/** Long enough for fees to rise and fall again, short enough that bumps are not paid from the revenue of long ago. */
export const revenueDays = 30;
/** Sats beside the share of the revenue: a new service has no revenue. */
export const revenueAllowance = 100_000n;
/**
 * Bound of an order by what it earns. A file at the usual price (2,000 sats) may cost 8,000: with that, a reveal of 300
 * virtual bytes pays 26 sat/vB more. Without this bound, many cheap orders would cost more than they earn.
 */
const costPerEarned = 3n;
const costOfAny = 2_000n;

/** Bound of an order's bumps, from what the service earns by the order. Pure. */
export const boundByEarned = (earned: bigint): bigint => costOfAny + costPerEarned * largest(earned, 0n);

/** Bound of all bumps of `revenueDays`, from the revenue of these days. Pure. */
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
  /** Families within `revenueDays`. */
  readonly families: readonly FamilyCost[];
}

/** Costs of bumps and their bounds, in sats, for operators. */
export interface BumpFigures {
  readonly cost: Readonly<Record<SharedBound, bigint>>;
  readonly budget: Readonly<Record<SharedBound, bigint>>;
}

/** Sums the costs of all bumps. Pure. */
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
 * Budgets of each order and of all together, reduced by each bump that is stored. An order bears its largest share in a
 * family, because any bump of the family may be mined.
 */
export class Budgets {
  readonly #budgets: BumpBudgets;
  readonly #earned: BudgetFacts['earned'];
  readonly #revenue: bigint;
  /** Sats of each family, by order. */
  readonly #spent = new Map<string, Map<string, bigint>>();
  readonly #families = new Map<string, Omit<FamilyCost, 'family'>>();

  constructor(budgets: BumpBudgets, { earned, revenue, spent, families }: BudgetFacts) {
    this.#budgets = budgets;
    this.#earned = earned;
    this.#revenue = revenue;
    for (const { orderId, family, fee } of spent) this.#bear(displayHash(family), orderId, fee);
    for (const { family, ...cost } of families) this.#families.set(displayHash(family), cost);
  }

  /** Bound of one order. `isByEarned`: the bound comes from what the order earns. */
  boundOf(orderId: string): { readonly sats: bigint; readonly isByEarned: boolean } {
    const byEarned = boundByEarned(this.#earned.get(orderId) ?? 0n);
    const isByEarned = byEarned < this.#budgets.maxSats;
    return { sats: isByEarned ? byEarned : this.#budgets.maxSats, isByEarned };
  }

  /**
   * Budgets that orders have left.
   *
   * @param replaced family whose next bump is planned: what it spent is free again; null: a new family
   */
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

  /** Sats that all orders together may still cost, and the bound that limits them. */
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

  /** Counts a stored bump of this family, with the sats that each order bears. */
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

import { smallest } from '#kernel/bitcoin/amount.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';

/**
 * The fee that an order pays for a family of bumps. The bumps of a family replace each other, so at most one of them is
 * mined.
 */
export interface SpentOnFamily {
  readonly orderId: string;
  readonly family: Txid;
  readonly fee: bigint;
}

/** The largest fee among the bumps of a family, which replace each other. */
export interface FamilyCost {
  readonly family: Txid;
  readonly fee: bigint;
  /** Whether the newest bump of the family was made within the last day. */
  readonly isOfToday: boolean;
}

/** Maximum costs of bumps, in sats. */
export interface BumpBudgets {
  /** Maximum for one order (ORDER_BUMP_MAX_SATS). If it is 0, no bumps are made. */
  readonly maxSats: bigint;
  /** Maximum for all orders within a day (ORDER_BUMP_DAY_MAX_SATS). */
  readonly dayMaxSats: bigint;
  /**
   * Maximum for all orders within `revenueDays`, as a percentage of the revenue of these days
   * (ORDER_BUMP_REVENUE_PERCENT).
   */
  readonly revenuePercent: bigint;
}

/**
 * Number of days over which bumps are compared with the revenue. It is long enough for fees to rise and fall again, and
 * short enough that old revenue does not pay for new bumps.
 */
export const revenueDays = 30;
/** Sats that bumps may cost in addition to the percentage of the revenue, because a new service has no revenue. */
export const revenueAllowance = 100_000n;
/**
 * Maximum cost of an order's bumps: `costOfAny` sats, and `costPerEarned` sats for each sat that the order earns. A
 * file at the usual price (2,000 sats) may thus cost 8,000 sats. This raises the rate of a reveal of 300 virtual bytes
 * by 26 sat/vB. Without this limit, many cheap orders would cost more than they earn.
 */
const costPerEarned = 3n;
const costOfAny = 2_000n;

/** Maximum cost of an order's bumps in sats, based on the sats that the service earns from the order. Pure. */
export const boundByEarned = (earned: bigint): bigint => costOfAny + costPerEarned * largest(earned, 0n);

/** Maximum cost of all bumps within `revenueDays` in sats, based on the revenue of these days. Pure. */
export const boundByRevenue = (revenue: bigint, { revenuePercent }: BumpBudgets): bigint =>
  revenueAllowance + (largest(revenue, 0n) * revenuePercent) / 100n;

/** Limits that apply to all orders together. */
export type SharedBound = 'day' | 'revenue';

export interface BudgetFacts {
  /** Sats that each order earns. */
  readonly earned: ReadonlyMap<string, bigint>;
  /** Revenue that was booked within `revenueDays`, in sats. */
  readonly revenue: bigint;
  readonly spent: readonly SpentOnFamily[];
  /** Families of bumps within `revenueDays`. */
  readonly families: readonly FamilyCost[];
}

/** Costs of bumps and their limits, in sats, for operators. */
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
 * Budgets of each order, and of all orders together. Each stored bump reduces the budgets. For each family, the largest
 * share of an order is deducted, because any bump of the family may be mined.
 */
export class Budgets {
  readonly #budgets: BumpBudgets;
  readonly #earned: BudgetFacts['earned'];
  readonly #revenue: bigint;
  /** Sats that each order pays, by order id and then by family. */
  readonly #spent = new Map<string, Map<string, bigint>>();
  readonly #families = new Map<string, Omit<FamilyCost, 'family'>>();

  constructor(budgets: BumpBudgets, { earned, revenue, spent, families }: BudgetFacts) {
    this.#budgets = budgets;
    this.#earned = earned;
    this.#revenue = revenue;
    for (const { orderId, family, fee } of spent) this.#bear(displayHash(family), orderId, fee);
    for (const { family, ...cost } of families) this.#families.set(displayHash(family), cost);
  }

  /** Maximum cost of one order's bumps. `isByEarned` is true if the limit comes from the earnings of the order. */
  boundOf(orderId: string): { readonly sats: bigint; readonly isByEarned: boolean } {
    const byEarned = boundByEarned(this.#earned.get(orderId) ?? 0n);
    const isByEarned = byEarned < this.#budgets.maxSats;
    return { sats: isByEarned ? byEarned : this.#budgets.maxSats, isByEarned };
  }

  /**
   * Remaining budgets of orders, in sats.
   *
   * @param replaced family whose next bump is planned; its earlier costs are not deducted. Null if the bump starts a
   *   new family
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

  /** Sats that bumps of all orders together may still cost, and the limit that applies. */
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

  /** Deducts a stored bump of this family. `shares` has the sats that each order pays. */
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

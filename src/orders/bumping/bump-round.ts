import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { type FreeSats, spareOf } from '#orders/funds/spare-sats.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import { outpointOf, outpointParts } from '#purse/transactions/outpoint.ts';
import { type BudgetFacts, Budgets, type BumpBudgets, revenueDays, type SharedBound } from './budgets.ts';
import type { LiveBump } from './bump.store.ts';
import type { FoundParent } from './find-stuck.ts';
import { guarded } from './guarded.ts';
import {
  type BumpLimit,
  type OwnedOutput,
  owedOf,
  type PlannedBump,
  planBump,
  type WantedBump,
} from './plan-bump.ts';
import { groupStuck, isStuck } from './stuck.ts';

/** Maximum costs of bumps, and the waiting time before a bump. */
export interface BumpPolicy extends BumpBudgets {
  /** How long a transaction waits before it is bumped, in ms. */
  readonly afterMs: number;
}

/** A planned bump, to be signed, stored and sent. */
export interface WantedStore {
  readonly parents: readonly FoundParent[];
  readonly planned: PlannedBump;
  /** Index of the key that receives the change. */
  readonly ownIndex: number;
  /** Sats of the change that belong to a customer. */
  readonly owed: bigint;
  readonly replaced: LiveBump | null;
}

export interface RoundParts {
  readonly policy: BumpPolicy;
  readonly standing: NodeStanding;
  readonly now: Date;
  /** All transactions that have waited at least `afterMs`, stuck or not. */
  readonly parents: readonly FoundParent[];
  readonly live: readonly LiveBump[];
  readonly costs: Omit<BudgetFacts, 'earned'>;
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  readonly isInMempool: (txid: Txid) => Promise<boolean>;
  /** Finds free coins. Returns null if the wallet's coins are not all listed yet. */
  readonly freeCoins: () => Promise<readonly OwnedOutput[] | null>;
  readonly freeSats: () => Promise<FreeSats>;
  /** Whether a coin is unspent in blocks and in the mempool. Another wallet with the same seed may have spent it. */
  readonly isUnspent: (coin: OwnedOutput) => Promise<boolean>;
  /** Signs and stores a bump, and returns its family. Returns null if the bump was not stored (keep-bump.ts). */
  readonly store: (wanted: WantedStore) => Promise<Txid | null>;
  readonly log: Logger;
}

/** One round, which bumps all stuck transactions. */
export class BumpRound {
  readonly #parts: RoundParts;
  readonly #budgets: Budgets;
  /** Reasons why orders are not bumped, by order id. */
  readonly stuck = new Map<string, string>();
  /** Stuck orders without a bump, because the free coins are needed for debts to partners. */
  readonly heldBack = new Set<string>();
  /** The free coins. Null until they are read in this round. */
  #coins: readonly OwnedOutput[] | null = null;
  #areCoinsListed = true;
  /** Sats of the free coins. Null until they are read in this round. */
  #sats: FreeSats | null = null;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    const earned = new Map(parts.parents.map(({ orderId, overdue }) => [orderId, overdue.earned]));
    this.#budgets = new Budgets(parts.policy, { ...parts.costs, earned });
  }

  /** Sats of free coins, without coins that earlier bumps of this round spend. */
  async freeSats(): Promise<FreeSats> {
    this.#sats ??= await this.#parts.freeSats();
    return this.#sats;
  }

  readonly #isStuck = (parent: FoundParent): boolean =>
    isStuck(parent, this.#parts.standing.mempoolMinFeeRate);

  async make(): Promise<void> {
    const { policy, parents: all, live } = this.#parts;
    this.#noteWaiting();
    if (policy.maxSats === 0n) {
      await this.#refuse(all.filter(this.#isStuck), 'budget', null);
      return;
    }
    for (const bump of live) await this.#replace(bump);
    const paidFor = new Set(
      live.flatMap(({ parents }) => parents.map((txid) => displayHash(txid) as string)),
    );
    const stuck = all.filter((parent) => this.#isStuck(parent) && !paidFor.has(parent.id));
    const budgets = this.#budgets.of(stuck.map(({ orderId }) => orderId));
    for (const members of groupStuck(stuck, this.#parts.standing.cluster, budgets)) {
      const parents = members.flatMap((member) => all.filter(({ id }) => id === member.id));
      await this.#bump(parents, null);
    }
  }

  /**
   * Notes a reason for transactions that are not in the mempool and that are not bumped, because their customers chose
   * a low rate.
   */
  #noteWaiting(): void {
    const { parents, standing } = this.#parts;
    for (const parent of parents) {
      if (parent.mempool !== null || this.#isStuck(parent)) continue;
      const least = shownRate(standing.mempoolMinFeeRate);
      this.stuck.set(
        parent.orderId,
        `The transaction is not in the mempool, which needs ${least} or more. Its customer chose a lower rate, so it waits.`,
      );
    }
  }

  /** Replaces a bump if its parents are still stuck. The new bump spends the same outputs and pays more. */
  async #replace(bump: LiveBump): Promise<void> {
    const { policy, now } = this.#parts;
    const ids = new Set<string>(bump.parents.map((txid) => displayHash(txid)));
    const parents = this.#parts.parents.filter(({ id }) => ids.has(id));
    const isRecent = bump.madeAt.getTime() > now.getTime() - policy.afterMs;
    if (!isRecent && parents.some(this.#isStuck)) await this.#bump(parents, bump);
  }

  /** Logs and notes an error of one bump, so that the other bumps are still made. */
  async #bump(parents: readonly FoundParent[], replaced: LiveBump | null): Promise<void> {
    const error = await guarded(() => this.#tryToBump(parents, replaced));
    if (error === null) return;
    this.#parts.log.error({ err: error }, 'stuck transactions could not be paid for');
    for (const { orderId } of parents)
      this.stuck.set(
        orderId,
        `The transaction that would pay for the stuck one cannot be made: ${error.message}`,
      );
  }

  async #tryToBump(parents: readonly FoundParent[], replaced: LiveBump | null): Promise<void> {
    const { store } = this.#parts;
    const [first] = parents;
    if (first === undefined) return;
    const ownIndex = replaced?.ownIndex ?? first.overdue.ownIndex;
    const family = replaced?.family ?? null;
    const wanted = await this.#wanted(parents, replaced);
    const planned = await this.#plan(wanted, ownIndex);
    if (planned.limit !== null) await this.#refuse(parents, planned.limit, family);
    if (planned.kind === 'none') return;
    const stored = await store({ parents, planned, ownIndex, owed: owedOf(wanted), replaced });
    if (stored === null) return;
    this.#budgets.spend(stored, planned.shares);
    this.#coins = this.#coins?.filter((coin) => !planned.coins.includes(coin)) ?? null;
    if (this.#sats !== null)
      // the change of these coins is free again once the bump is in a block
      this.#sats = { ...this.#sats, free: this.#sats.free - valueOf(planned.coins) };
  }

  async #wanted(parents: readonly FoundParent[], replaced: LiveBump | null): Promise<WantedBump> {
    // the earlier costs of the family are not deducted, because a replacement pays them only once
    const family = replaced?.family ?? null;
    const budgets = this.#budgets.of(
      parents.map(({ orderId }) => orderId),
      family,
    );
    const { sats: most } = this.#budgets.shared(family);
    const before =
      replaced === null ? null : { bump: replaced, isThere: await this.#parts.isInMempool(replaced.txid) };
    return { ...wantedOf(parents, budgets, before), most };
  }

  /** Plans a bump without free coins first, because finding free coins needs queries of the index. */
  async #plan(wanted: WantedBump, index: number): Promise<ReturnType<typeof planBump>> {
    const { scriptOf, freeCoins, standing } = this.#parts;
    const own = { key: { branch: 1, index } as const, leafScript: null };
    const rest = { script: scriptOf(own), own };
    // `spare` is only needed if the bump spends coins, so it is not read otherwise
    const spare = wanted.kept.length === 0 ? 0n : spareOf(await this.freeSats());
    const alone = planBump(wanted, { coins: [], spare }, rest, standing);
    if (alone.limit !== 'coins') return alone;
    if (this.#coins === null) {
      const coins = await freeCoins();
      this.#areCoinsListed = coins !== null;
      this.#coins = coins ?? [];
    }
    for (;;) {
      const free = { coins: this.#coins, spare: spareOf(await this.freeSats()) };
      const planned = planBump(wanted, free, rest, standing);
      const spent = await this.#spentOf(planned);
      if (spent.length === 0) return planned;
      this.#coins = this.#coins.filter((coin) => !spent.includes(coin));
    }
  }

  async #spentOf(planned: ReturnType<typeof planBump>): Promise<readonly OwnedOutput[]> {
    const spent: OwnedOutput[] = [];
    for (const coin of planned.kind === 'bump' ? planned.coins : []) {
      if (!(await this.#parts.isUnspent(coin))) spent.push(coin);
    }
    return spent;
  }

  /**
   * Notes why transactions are not bumped.
   *
   * @param replaced the family whose next bump was refused; null if the bump would have started a new family
   */
  async #refuse(parents: readonly FoundParent[], limit: BumpLimit, replaced: Txid | null): Promise<void> {
    const orderIds = parents.map(({ orderId }) => orderId);
    const own = [...this.#budgets.of(orderIds, replaced).values()].reduce((sum, left) => sum + left, 0n);
    const shared = this.#budgets.shared(replaced);
    for (const { orderId, mempool, wantedRate } of parents) {
      const paid =
        mempool === null
          ? 'The transaction is not in the mempool'
          : `It pays ${shownRate(mempool.effectiveRate)}`;
      const why = await this.#reasonOf(limit, orderId, shared.sats < own ? shared : null);
      if (limit === 'owed') this.heldBack.add(orderId);
      this.stuck.set(orderId, `${paid}, the wanted rate is ${shownRate(wantedRate)}, and ${why}.`);
    }
  }

  /**
   * The reason why an order is not bumped.
   *
   * @param shared the budget of all orders if it is used up, or null if the budget of this order is used up
   */
  async #reasonOf(
    limit: BumpLimit,
    orderId: string,
    shared: ReturnType<Budgets['shared']> | null,
  ): Promise<string> {
    if (limit === 'coins') return this.#coinsReason();
    if (limit === 'owed') return owedReason(await this.freeSats());
    return shared === null ? this.#ownReason(orderId) : sharedReason(shared.bound, shared.of);
  }

  #coinsReason(): string {
    return this.#areCoinsListed
      ? 'the wallet has no free coin that pays for it; satscribe wallet fund shows an address to send coins to'
      : 'the coins of the wallet are still being listed after an upgrade, which takes minutes';
  }

  #ownReason(orderId: string): string {
    const { sats, isByEarned } = this.#budgets.boundOf(orderId);
    return isByEarned
      ? `the limit is ${sats} sats for an order that earns this little`
      : `the limit of an order is ${sats} sats (ORDER_BUMP_MAX_SATS)`;
  }
}

const owedReason = ({ free, reserved }: FreeSats): string =>
  `free coins have ${free} sats, but ${reserved} are reserved for partners and payouts; satscribe wallet fund shows an address to send coins to`;

const sharedReason = (bound: SharedBound, sats: bigint): string =>
  bound === 'day'
    ? `the limit of all orders together is ${sats} sats in a day (ORDER_BUMP_DAY_MAX_SATS)`
    : `the limit of all orders together is ${sats} sats in ${revenueDays} days, a share of their revenue (ORDER_BUMP_REVENUE_PERCENT)`;

function wantedOf(
  parents: readonly FoundParent[],
  budgets: ReadonlyMap<string, bigint>,
  replaced: { bump: LiveBump; isThere: boolean } | null,
): Omit<WantedBump, 'most'> {
  const outputs = new Set(parents.map(({ output }) => outpointOf(output)));
  const kept = replaced?.bump.plan.inputs.filter(({ outpoint }) => !outputs.has(outpoint)) ?? [];
  const rates = parents.map(({ mempool }) => mempool?.effectiveRate ?? 0n);
  return {
    parents,
    ancestor: ancestorOf(parents),
    kept: kept.map(({ outpoint, value, script, keyIndex }) => ({
      ...outpointParts(outpoint),
      value: BigInt(value),
      script: Buffer.from(script, 'hex'),
      key: keyIndex === null ? null : { branch: 1, index: keyIndex },
    })),
    replaced:
      replaced?.isThere === true
        ? { fee: BigInt(replaced.bump.fee), virtualBytes: replaced.bump.virtualBytes }
        : null,
    feeRate: parents.reduce((most, { wantedRate }) => (wantedRate > most ? wantedRate : most), 0n),
    paidRate: rates.reduce((lowest, rate) => (rate < lowest ? rate : lowest)),
    budgets,
  };
}

/** Fee and size of all unmined ancestors (commits, and reveals of burns). Each ancestor is counted once. */
function ancestorOf(parents: readonly FoundParent[]): WantedBump['ancestor'] {
  const own = new Set(parents.map(({ id }) => id));
  const byId = new Map(
    parents.flatMap(({ ancestors }) => ancestors.map((each) => [displayHash(each.txid) as string, each])),
  );
  const others = [...byId].filter(([id]) => !own.has(id)).map(([, each]) => each);
  return {
    fee: others.reduce((sum, { fee }) => sum + BigInt(fee), 0n),
    virtualBytes: others.reduce((sum, { virtualBytes }) => sum + virtualBytes, 0),
  };
}

const shownRate = (rate: bigint): string => `${(Number(rate) / 1000).toFixed(1)} sat/vB`;

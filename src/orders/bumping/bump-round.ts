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

/** What is done about transactions that are not mined. */
export interface BumpPolicy extends BumpBudgets {
  /** How long a transaction waits before anything is done. */
  readonly afterMs: number;
}

/** A bump that is to be signed, stored and sent. */
export interface WantedStore {
  readonly parents: readonly FoundParent[];
  readonly planned: PlannedBump;
  /** Of the key that gets what is left. */
  readonly ownIndex: number;
  /** Sats of what is left that are a customer's. */
  readonly owed: bigint;
  readonly replaced: LiveBump | null;
}

export interface RoundParts {
  readonly policy: BumpPolicy;
  readonly standing: NodeStanding;
  readonly now: Date;
  /** All that wait for long, stuck or not. */
  readonly parents: readonly FoundParent[];
  readonly live: readonly LiveBump[];
  readonly costs: Omit<BudgetFacts, 'earned'>;
  readonly scriptOf: (own: OwnScript) => Uint8Array;
  readonly isInMempool: (txid: Txid) => Promise<boolean>;
  /** Null: the coins of the wallet are not all listed yet. */
  readonly freeCoins: () => Promise<readonly OwnedOutput[] | null>;
  readonly freeSats: () => Promise<FreeSats>;
  /** Whether neither a block nor the mempool spends a coin: a seed may be in other wallets, too. */
  readonly isUnspent: (coin: OwnedOutput) => Promise<boolean>;
  /** Signs and stores a bump: its family, or null where an order is no longer under way. */
  readonly store: (wanted: WantedStore) => Promise<Txid | null>;
  readonly log: Logger;
}

/** One look at all that is stuck. */
export class BumpRound {
  readonly #parts: RoundParts;
  readonly #budgets: Budgets;
  /** Why orders are not paid for, by their ids. */
  readonly stuck = new Map<string, string>();
  /** Orders of them for which no coin is spent, as it is kept for what is owed to partners. */
  readonly heldBack = new Set<string>();
  /** Null: not asked for yet. */
  #coins: readonly OwnedOutput[] | null = null;
  #areCoinsListed = true;
  /** Null: not asked for yet. */
  #sats: FreeSats | null = null;

  constructor(parts: RoundParts) {
    this.#parts = parts;
    const earned = new Map(parts.parents.map(({ orderId, overdue }) => [orderId, overdue.earned]));
    this.#budgets = new Budgets(parts.policy, { ...parts.costs, earned });
  }

  /** Sats of free coins before the next bump of the round. */
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

  /** Those that were dropped and are not paid for, as their customers chose to wait. */
  #noteWaiting(): void {
    const { parents, standing } = this.#parts;
    for (const parent of parents) {
      if (parent.mempool !== null || this.#isStuck(parent)) continue;
      const least = shownRate(standing.mempoolMinFeeRate);
      this.stuck.set(
        parent.orderId,
        `It is not in the mempool, which takes ${least} or more, and its customer chose to wait.`,
      );
    }
  }

  /** A child that is stuck itself is replaced by one that pays more and spends the same. */
  async #replace(bump: LiveBump): Promise<void> {
    const { policy, now } = this.#parts;
    const ids = new Set<string>(bump.parents.map((txid) => displayHash(txid)));
    const parents = this.#parts.parents.filter(({ id }) => ids.has(id));
    const isRecent = bump.madeAt.getTime() > now.getTime() - policy.afterMs;
    if (!isRecent && parents.some(this.#isStuck)) await this.#bump(parents, bump);
  }

  /** Whatever is wrong with these is told, and stops nothing else. */
  async #bump(parents: readonly FoundParent[], replaced: LiveBump | null): Promise<void> {
    const error = await guarded(() => this.#tryToBump(parents, replaced));
    if (error === null) return;
    this.#parts.log.error({ err: error }, 'stuck transactions could not be paid for');
    for (const { orderId } of parents)
      this.stuck.set(orderId, `What pays for it cannot be made: ${error.message}`);
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
      // what is left of them comes back with a block
      this.#sats = { ...this.#sats, free: this.#sats.free - valueOf(planned.coins) };
  }

  async #wanted(parents: readonly FoundParent[], replaced: LiveBump | null): Promise<WantedBump> {
    // a replacement takes the place of what its family has spent
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

  /** With coins only where it needs them: to find free ones takes a look at the index. */
  async #plan(wanted: WantedBump, index: number): Promise<ReturnType<typeof planBump>> {
    const { scriptOf, freeCoins, standing } = this.#parts;
    const own = { key: { branch: 1, index } as const, leafScript: null };
    const rest = { script: scriptOf(own), own };
    // without coins, what is free does not matter
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

  /** @param replaced the family of which a new one was to be made; null: none is replaced */
  async #refuse(parents: readonly FoundParent[], limit: BumpLimit, replaced: Txid | null): Promise<void> {
    const orderIds = parents.map(({ orderId }) => orderId);
    const own = [...this.#budgets.of(orderIds, replaced).values()].reduce((sum, left) => sum + left, 0n);
    const shared = this.#budgets.shared(replaced);
    for (const { orderId, mempool, wantedRate } of parents) {
      const paid =
        mempool === null ? 'It is not in the mempool' : `It pays ${shownRate(mempool.effectiveRate)}`;
      const why = await this.#reasonOf(limit, orderId, shared.sats < own ? shared : null);
      if (limit === 'owed') this.heldBack.add(orderId);
      this.stuck.set(orderId, `${paid}, ${shownRate(wantedRate)} are asked for, and ${why}.`);
    }
  }

  /** @param shared the budget of all orders that is spent; null: that of the order is */
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
      ? 'the wallet has no free coin that pays for it: satscribe wallet fund shows an address for some'
      : 'the coins of the wallet are still being listed after an upgrade, which takes minutes';
  }

  #ownReason(orderId: string): string {
    const { sats, isByEarned } = this.#budgets.boundOf(orderId);
    return isByEarned
      ? `an order is paid ${sats} sats for that earns as little`
      : `an order is paid ${sats} sats for (ORDER_BUMP_MAX_SATS)`;
  }
}

const owedReason = ({ free, reserved }: FreeSats): string =>
  `free coins hold ${free} sats, and ${reserved} are kept for partners and payouts: satscribe wallet fund shows an address for more`;

const sharedReason = (bound: SharedBound, sats: bigint): string =>
  bound === 'day'
    ? `all orders together are paid ${sats} sats for in a day (ORDER_BUMP_DAY_MAX_SATS)`
    : `all orders together are paid ${sats} sats for in ${revenueDays} days, by their revenue (ORDER_BUMP_REVENUE_PERCENT)`;

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

/** All that these stand on, each once: their commit, and the reveals of burns. */
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

import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { assetName, CoinStock, satsName } from './coin-stock.ts';
import { type Holder, LooseAmounts, ownOf, Trial } from './loose-amounts.ts';
import { TransactionCost } from './transaction-cost.ts';
import { type ChosenParts, edictsOf, stoneScript } from './withdrawal-layout.ts';
import type { PricedWithdrawal, WithdrawalBatch, WithdrawalCoin } from './withdrawal-plan.ts';

/** The reason why a withdrawal is not added to a draft. */
export type DraftFault =
  | { readonly code: 'coins'; readonly missing: bigint; readonly asset: 'units' | 'sats' }
  /** `isOwn`: the coins of the withdrawal's own account are already too many, so later coins cannot change this. */
  | { readonly code: 'inputs'; readonly most: bigint | null; readonly isOwn: boolean }
  | { readonly code: 'runestone'; readonly bytes: number }
  | { readonly code: 'weight'; readonly weight: number };

/**
 * A draft of a transaction, to which withdrawals are added one by one. Each withdrawal first takes coins of its own
 * account, the largest first. After these, it takes coins without an owner, because such coins cover the part of
 * balances that own coins do not cover. So an account pays for all inputs that its payments caused. A withdrawal that
 * does not fit changes nothing.
 */
export class WithdrawalDraft implements ChosenParts {
  readonly inputs: WithdrawalCoin[];
  readonly withdrawals: PricedWithdrawal[] = [];
  readonly #batch: WithdrawalBatch;
  readonly #stock: CoinStock;
  readonly #loose = new LooseAmounts();
  /** Holder of the part of the price that is not needed for the cost. */
  readonly #rest: Holder;
  #cost = new TransactionCost();
  /** Sats that the withdrawals have paid for the transaction so far. */
  #funded = 0n;

  constructor(batch: WithdrawalBatch) {
    this.#batch = batch;
    this.#stock = new CoinStock(batch.coins);
    this.inputs = [...batch.kept];
    this.#rest = batch.kept.length > 0 ? 'kept' : 'left';
    for (const coin of batch.kept) {
      this.#loose.addCoin('kept', coin);
      this.#cost.addCoin(coin);
    }
  }

  get isEmpty(): boolean {
    return this.withdrawals.length === 0 && this.inputs.length === 0;
  }

  /** Adds a withdrawal. Returns null if it was added, otherwise the reason. */
  add(withdrawal: PricedWithdrawal): DraftFault | null {
    const cost = new TransactionCost(this.#cost);
    cost.addWithdrawal(withdrawal);
    const bytes = this.#stoneBytes(cost, withdrawal);
    if (bytes > this.#batch.limits.dataCarrierBytes) return { code: 'runestone', bytes };
    const trial = new Trial(this.#loose);
    const fault = this.#drawUnits(trial, withdrawal) ?? this.#drawSats(trial, cost, withdrawal);
    if (fault !== null) return fault;
    const weight = cost.weightMost(this.#batch);
    if (weight > this.#batch.limits.weightMax) return { code: 'weight', weight };
    this.#stock.take(trial.coins);
    this.#loose.addAll(trial.changes);
    this.inputs.push(...trial.coins);
    this.withdrawals.push(withdrawal);
    this.#cost = cost;
    this.#funded = cost.sats(this.#batch);
    return null;
  }

  /**
   * The size of the runestone in bytes. It is computed exactly only if the estimate is above the bound. Otherwise the
   * result is 0.
   */
  #stoneBytes(cost: TransactionCost, withdrawal: PricedWithdrawal): number {
    const most = cost.stoneBytes;
    if (withdrawal.rune === null || most <= this.#batch.limits.dataCarrierBytes) return 0;
    return stoneScript(edictsOf([...this.withdrawals, withdrawal], changesCounted)).length;
  }

  #drawUnits(trial: Trial, { account, rune, units }: PricedWithdrawal): DraftFault | null {
    const asset = assetName(rune);
    let missing = units;
    let most = 0n;
    for (const { holder, owner } of sourcesOf(account)) {
      missing -= trial.use(holder, asset, missing);
      while (missing > 0n && owner !== undefined) {
        const coin = this.#stock.largest(owner, asset, trial.coins);
        if (coin === null) break;
        if (trial.coins.size === this.#batch.limits.inputsMax) return inputsFault(trial, most);
        trial.take(coin);
        const used = trial.use(holder, asset, missing);
        most += used;
        missing -= used;
      }
    }
    return missing === 0n ? null : { code: 'coins', missing, asset: rune === null ? 'sats' : 'units' };
  }

  /**
   * Takes sats for the withdrawal's output, and for its part of the fee. If sats are withdrawn, the withdrawn sats are
   * already taken.
   */
  #drawSats(
    trial: Trial,
    cost: TransactionCost,
    { account, rune, units }: PricedWithdrawal,
  ): DraftFault | null {
    for (const coin of trial.coins) cost.addCoin(coin);
    let given = rune === null ? units : 0n;
    const sources = sourcesOf(account);
    for (;;) {
      let need = cost.sats(this.#batch) - this.#funded - given;
      if (need <= 0n) {
        trial.changes.add(this.#rest, satsName, -need);
        return null;
      }
      const drawn = this.#drawOnce(trial, sources, need);
      given += drawn.used;
      need -= drawn.used;
      if (need > 0n && drawn.coin === null) return { code: 'coins', missing: need, asset: 'sats' };
      if (drawn.coin === null) continue;
      if (trial.coins.size === this.#batch.limits.inputsMax) return inputsFault(trial, null);
      trial.take(drawn.coin);
      cost.addCoin(drawn.coin);
    }
  }

  /**
   * Uses loose sats of the sources, in their sequence. Stops at a source that still has a coin, because this coin must
   * be taken first.
   */
  #drawOnce(
    trial: Trial,
    sources: readonly Source[],
    need: bigint,
  ): { readonly used: bigint; readonly coin: WithdrawalCoin | null } {
    let used = 0n;
    for (const { holder, owner } of sources) {
      used += trial.use(holder, satsName, need - used);
      if (used === need) break;
      const coin = owner === undefined ? null : this.#stock.largest(owner, satsName, trial.coins);
      if (coin !== null && this.#isWorthIt(coin)) return { used, coin };
    }
    return { used, coin: null };
  }

  /** Whether a coin's value is above the cost of its input. */
  #isWorthIt({ script, value }: WithdrawalCoin): boolean {
    return value > feeOf(keyInputWeightOf(script), this.#batch.feeRate);
  }
}

const inputsFault = ({ coins }: Trial, most: bigint | null): DraftFault => ({
  code: 'inputs',
  most,
  isOwn: [...coins].every(({ owner }) => owner !== null),
});

/**
 * Number of change outputs that is assumed for the exact size of a runestone. With two changes, the output indices in
 * the edicts are largest.
 */
const changesCounted = 2;

/** A source of amounts for a withdrawal. The sources are used in sequence. */
interface Source {
  readonly holder: Holder;
  /** The owner of the source's free coins. Absent if all coins of the source are already taken. */
  readonly owner?: string | null;
}

const sourcesOf = (account: string): readonly Source[] => [
  { holder: 'kept' },
  { holder: ownOf(account), owner: account },
  { holder: 'left', owner: null },
];

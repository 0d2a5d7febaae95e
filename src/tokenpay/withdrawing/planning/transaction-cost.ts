import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { pushPrefix } from '#kernel/bitcoin/script-push.ts';
import { dustOf, frameWeight, outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import { writeInteger } from '#kernel/runes/runestone/varint.ts';
import { asU128, smallU128, type U128 } from '#kernel/runes/u128.ts';
import { type AssetName, assetName, hasRunes } from './coin-stock.ts';
import { feeFor, type LayoutRules } from './withdrawal-layout.ts';
import type { PricedWithdrawal, WithdrawalCoin } from './withdrawal-plan.ts';

/** Size of OP_RETURN OP_13, in bytes. */
const stonePrefixBytes = 2;
/** Size of the pointer's tag and value, and of the tag before the edicts, in bytes. */
const stoneFieldBytes = 3;
/** Maximum number of change outputs before the receivers. */
const changesMax = 2;

/**
 * Computes the size of a transaction while coins and withdrawals are added. Each step is O(1). The size of the
 * runestone is an estimate with complete ids. These need at least as many bytes as the differences that are really
 * written.
 */
export class TransactionCost {
  #inputs = 0;
  #outputs = 0;
  #weight = 0;
  #paid = 0n;
  #edictBytes = 0;
  #edicts = 0;
  #hasRunes = false;
  readonly #runes: Set<AssetName>;

  constructor(before: TransactionCost | null = null) {
    this.#runes = new Set(before === null ? [] : before.#runes);
    if (before === null) return;
    this.#inputs = before.#inputs;
    this.#outputs = before.#outputs;
    this.#weight = before.#weight;
    this.#paid = before.#paid;
    this.#edictBytes = before.#edictBytes;
    this.#edicts = before.#edicts;
    this.#hasRunes = before.#hasRunes;
  }

  addCoin(coin: WithdrawalCoin): void {
    this.#inputs++;
    this.#weight += keyInputWeightOf(coin.script);
    this.#hasRunes ||= hasRunes(coin);
  }

  addWithdrawal({ rune, units, sats, script }: PricedWithdrawal): void {
    this.#outputs++;
    this.#weight += outputWeight(script);
    this.#paid += sats;
    if (rune === null) return;
    const name = assetName(rune);
    // the second edict of the same rune has differences of 0
    const id: U128[] = this.#runes.has(name)
      ? [smallU128(0), smallU128(0)]
      : [rune.block, smallU128(rune.tx)];
    this.#runes.add(name);
    const bytes: number[] = [];
    for (const integer of [...id, asU128(units), smallU128(changesMax + this.#edicts)])
      writeInteger(bytes, integer);
    this.#edictBytes += bytes.length;
    this.#edicts++;
  }

  /** Upper bound for the size of the runestone in bytes, or 0 if there is no runestone. */
  get stoneBytes(): number {
    if (this.#edicts === 0) return 0;
    const payload = stoneFieldBytes + this.#edictBytes;
    return stonePrefixBytes + pushPrefix(payload).length + payload;
  }

  /** Upper bound for the weight in weight units. It includes all changes that the transaction can have. */
  weightMost(rules: Pick<LayoutRules, 'change'>): number {
    return this.#weightWith(rules, this.#hasRunes ? changesMax : 1);
  }

  /** Number of sats that the inputs must have: all payments, the minimum change for runes, and the fee. */
  sats(rules: LayoutRules): bigint {
    const changes = this.#hasRunes ? 1 : 0;
    const fee = feeFor(this.#weightWith(rules, changes), rules.feeRate, rules.replaced);
    return this.#paid + BigInt(changes * dustOf(rules.change)) + fee;
  }

  #weightWith({ change }: Pick<LayoutRules, 'change'>, changes: number): number {
    const stones = this.#edicts === 0 ? 0 : 1;
    return (
      frameWeight(this.#inputs, this.#outputs + changes + stones) +
      this.#weight +
      changes * outputWeight(change) +
      stones * outputWeight(new Uint8Array(this.stoneBytes))
    );
  }
}

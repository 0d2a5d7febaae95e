import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { Signer, SignerType } from '#psbts/signers/signer.ts';
import { inputWeight, signedWeight, weighedParts, withInputs, withOutput } from './input-weight.ts';

/** The part of a transaction that is fixed before coins are chosen. Amounts are in sats. */
export interface CoinFrame {
  readonly inputs: readonly { readonly value: bigint; readonly signer: Pick<Signer, 'type'> }[];
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[];
  /** Owner of the coins, who also gets the change. */
  readonly payer: Pick<Signer, 'type' | 'script'>;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /**
   * Minimum change. If it is given, the transaction always has a change output. If it is absent, a change output has at
   * least the dust of its script. It may then be omitted if there are other outputs.
   */
  readonly changeLeast?: bigint;
  /** Sats of fee in addition to the fee for the transaction's own size. Absent means 0. */
  readonly feeBeyond?: bigint;
}

export interface ChosenCoins<Coin> {
  readonly kind: 'chosen';
  readonly coins: readonly Coin[];
  /** Value of the change, or 0 if there is no change output. */
  readonly change: bigint;
  readonly fee: bigint;
  /** Sats of the fee above its rate. They are too few for a change output. */
  readonly overpaid: bigint;
}

/** Coins that are not enough, with their sum (`there`) and the sum that is needed. */
export interface CoinsShort {
  /** `too-many`: the needed coins would make the transaction larger than nodes relay. */
  readonly kind: 'short' | 'too-many';
  readonly there: bigint;
  readonly needed: bigint;
}

export type CoinChoice<Coin> =
  | ChosenCoins<Coin>
  | CoinsShort
  /** The outcome depends on further coins. */
  | { readonly kind: 'more' };

/**
 * Divisor of the fee. A rest of at most 1/400 of the fee is added to the fee instead of a change output, because the
 * difference in the fee rate is invisible.
 */
const unseenPart = 400n;

/** Whether an output has more sats than its input costs. */
export const paysForItself = (value: bigint, type: SignerType, feeRate: bigint): boolean =>
  value > feeOf(inputWeight(type), feeRate);

/**
 * Chooses the fewest coins that pay for a transaction, the largest first. If the rest would be too small for change and
 * too large to add to the fee, one more coin is taken. If this does not help, the rest becomes `overpaid`. Never takes
 * a coin that costs more than its value. Pure. Costs O(coins).
 *
 * @param coins coins that are known to be free, sorted by value, the largest first
 * @param isAll whether no other coins follow
 */
export function chooseCoins<Coin extends { readonly value: bigint }>(
  coins: readonly Coin[],
  frame: CoinFrame,
  isAll: boolean,
): CoinChoice<Coin> {
  const { payer, feeRate } = frame;
  const firstPoor = coins.findIndex(({ value }) => !paysForItself(value, payer.type, feeRate));
  const paying = firstPoor === -1 ? coins : coins.slice(0, firstPoor);
  const trial = trialOf(frame);
  let there = 0n;
  let reserve: ChosenCoins<Coin> | null = null;
  for (let count = 0; ; count++) {
    const tried = trial(there, count);
    if (tried.kind === 'too-large') return reserve ?? { kind: 'too-many', there, needed: tried.needed };
    if (tried.kind === 'pays') return { ...tried.amounts, kind: 'chosen', coins: paying.slice(0, count) };
    if (reserve !== null) return reserve;
    if (tried.kind === 'overpays')
      reserve = { ...tried.amounts, kind: 'chosen', coins: paying.slice(0, count) };
    const next = paying[count];
    if (next !== undefined) there += next.value;
    else if (!isAll && firstPoor === -1) return { kind: 'more' };
    else return reserve ?? { kind: 'short', there, needed: tried.needed };
  }
}

interface Trial {
  /** Sum of the fee and the outputs, less the value of the fixed inputs. */
  readonly needed: bigint;
}
type Tried = Trial &
  (
    | { readonly kind: 'short' | 'too-large' }
    | {
        readonly kind: 'pays' | 'overpays';
        readonly amounts: Pick<ChosenCoins<unknown>, 'change' | 'fee' | 'overpaid'>;
      }
  );

/** Tries to pay with `count` coins that have `there` sats together. */
function trialOf({ inputs, outputs, payer, feeRate, changeLeast, feeBeyond = 0n }: CoinFrame) {
  const owed = valueOf(outputs) - valueOf(inputs) + feeBeyond;
  const dust = changeLeast ?? BigInt(dustOf(payer.script));
  const needsChange = outputs.length === 0 || changeLeast !== undefined;
  const fixed = weighedParts(inputs, outputs);
  return (there: bigint, count: number): Tried => {
    // a transaction has at least one input, so the result never shows the fee of a transaction without inputs
    const parts = withInputs(fixed, payer.type, fixed.inputs + count === 0 ? 1 : count);
    const bare = signedWeight(parts);
    const full = signedWeight(withOutput(parts, payer));
    const [fee, changeFee] = [feeOf(bare, feeRate), feeOf(full, feeRate)];
    const needed = owed + (needsChange ? changeFee + dust : fee);
    if (bare > standardWeightMax) return { kind: 'too-large', needed };
    if (fixed.inputs + count === 0) return { kind: 'short', needed };
    const left = there - owed - fee;
    const change = there - owed - changeFee;
    const given = { change: 0n, fee: feeBeyond + fee + left, overpaid: left };
    const mayGive = !needsChange && left >= 0n;
    if (mayGive && left * unseenPart <= fee) return { kind: 'pays', needed, amounts: given };
    if (change >= dust && full <= standardWeightMax)
      return { kind: 'pays', needed, amounts: { change, fee: feeBeyond + changeFee, overpaid: 0n } };
    return mayGive ? { kind: 'overpays', needed, amounts: given } : { kind: 'short', needed };
  };
}

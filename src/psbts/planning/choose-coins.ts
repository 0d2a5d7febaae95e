import { feeOf } from '#kernel/bitcoin/fee.ts';
import { dustOf, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { Signer, SignerType } from '#psbts/signers/signer.ts';
import { inputWeight, signedWeight, weighedParts, withInputs, withOutput } from './input-weight.ts';

/** The part of a transaction that is fixed before its coins are chosen. Amounts are sats. */
export interface CoinFrame {
  readonly inputs: readonly { readonly value: bigint; readonly signer: Pick<Signer, 'type'> }[];
  readonly outputs: readonly { readonly value: bigint; readonly script: Uint8Array }[];
  /** Owner of the coins, who gets the change. */
  readonly payer: Pick<Signer, 'type' | 'script'>;
  /** Sats for 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** The least change, which is then always an output. Absent: the dust of its script, or no change. */
  readonly changeLeast?: bigint;
  /** Sats of fee beyond those for its own size. Absent: 0. */
  readonly feeBeyond?: bigint;
}

export interface ChosenCoins<Coin> {
  readonly kind: 'chosen';
  readonly coins: readonly Coin[];
  /** Value of the change; 0: there is no such output. */
  readonly change: bigint;
  readonly fee: bigint;
  /** Sats of the fee above its rate: too few for an output of their own. */
  readonly overpaid: bigint;
}

/** Coins that do not pay, with the sum that they hold and the sum that they would need. */
export interface CoinsShort {
  /** `too-many`: nodes do not relay a transaction with more of them. */
  readonly kind: 'short' | 'too-many';
  readonly there: bigint;
  readonly needed: bigint;
}

export type CoinChoice<Coin> =
  | ChosenCoins<Coin>
  | CoinsShort
  /** Further coins decide the outcome. */
  | { readonly kind: 'more' };

/** A rest that is at most this part of the fee is added to the fee: the difference in the rate is invisible. */
const unseenPart = 400n;

/** Whether an output brings more than its input costs. */
export const paysForItself = (value: bigint, type: SignerType, feeRate: bigint): boolean =>
  value > feeOf(inputWeight(type), feeRate);

/**
 * Coins that pay for a transaction: the fewest, the largest first. One more is taken if the rest would be too little
 * for change and too much to give away. If that does not help either, the rest is `overpaid`. Never takes a coin that
 * costs more than it brings. Pure. Costs O(coins).
 *
 * @param coins those known to be free, by value, the largest first
 * @param isAll no others follow
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
  /** Fees and outputs, less the value of the fixed inputs. */
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

/** Tries a number of coins with a total of `there` sats. */
function trialOf({ inputs, outputs, payer, feeRate, changeLeast, feeBeyond = 0n }: CoinFrame) {
  const owed = valueOf(outputs) - valueOf(inputs) + feeBeyond;
  const dust = changeLeast ?? BigInt(dustOf(payer.script));
  const needsChange = outputs.length === 0 || changeLeast !== undefined;
  const fixed = weighedParts(inputs, outputs);
  return (there: bigint, count: number): Tried => {
    // a transaction has an input, so a fee without inputs is never shown
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

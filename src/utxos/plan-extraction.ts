import {
  dustOf,
  frameWeight,
  outputWeight,
  signedInputWeight,
  standardWeightMax,
  virtualSize,
} from '#kernel/bitcoin/transaction-size.ts';

/** An output that may be spent. */
export interface Coin {
  readonly value: number;
  /** Positions of the wanted sats in the output, ascending and without overlaps. */
  readonly wanted: readonly { readonly offset: number; readonly size: number }[];
}

export interface ExtractionTerms {
  /** Script of the spent outputs, which all belong to the same address. */
  readonly fromScript: Uint8Array;
  readonly specialScript: Uint8Array;
  readonly commonScript: Uint8Array;
  /** Fee rate in sats per virtual byte. */
  readonly feeRate: number;
}

export interface PlannedOutput {
  readonly kind: 'special' | 'common';
  readonly value: number;
}

export interface Extraction<Spent extends Coin> {
  readonly inputs: readonly Spent[];
  readonly outputs: readonly PlannedOutput[];
  readonly fee: number;
}

/** The reason why there is no transaction. `needed` and `there` are in sats. */
export type Refusal =
  | { readonly kind: 'size-unknown' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'fee-unpaid'; readonly needed: number; readonly there: number };

/** Consecutive sats, counted over all inputs in their sequence, from one position up to, but not including, another. */
interface Segment {
  readonly kind: 'special' | 'common';
  readonly from: number;
  to: number;
}

/**
 * Plans a transaction that sends every wanted sat to the special address. Other sats go there only if they are needed
 * to avoid dust. All other sats except the fee go to the common address. Sats keep their order, first in, first out.
 *
 * Inputs with wanted sats come first, ordered by the number of sats after their last wanted sat. The input with the
 * most such sats comes last among them, because the last sats pay the fee. If these sats are not enough for the fee,
 * inputs without wanted sats follow, the largest first. Pure. The work is proportional to the number of wanted ranges.
 */
export function planExtraction<Spent extends Coin>(
  coins: readonly Spent[],
  terms: ExtractionTerms,
): Extraction<Spent> | Refusal {
  const inputWeight = signedInputWeight(terms.fromScript);
  if (inputWeight === null) return { kind: 'size-unknown' };
  const inputs = coins
    .filter(({ wanted }) => wanted.length > 0)
    .toSorted((a, b) => sparedBehind(a) - sparedBehind(b));
  const reserve = coins.filter(({ wanted }) => wanted.length === 0).toSorted((a, b) => b.value - a.value);
  const dust = { special: dustOf(terms.specialScript), common: dustOf(terms.commonScript) };
  const segments = cut(inputs, dust);
  const end = segments.at(-1)?.to ?? 0;
  const weights = {
    special: outputWeight(terms.specialScript),
    common: outputWeight(terms.commonScript),
  };
  const fixed = segments.reduce((sum, { kind }) => sum + weights[kind], 0);
  const feeFor = (outputs: number, weight: number): { fee: number; weight: number } => {
    const total = frameWeight(inputs.length, outputs) + inputs.length * inputWeight + weight;
    return { fee: Math.ceil(virtualSize(total) * terms.feeRate), weight: total };
  };
  for (;;) {
    const there = valueOf(inputs);
    const withChange = feeFor(segments.length + 1, fixed + weights.common);
    if (withChange.weight > standardWeightMax) return { kind: 'too-large' };
    const change = there - end - withChange.fee;
    if (change >= dust.common)
      return planned(inputs, [...segments, { kind: 'common', from: end, to: end + change }], withChange.fee);
    // the change is too small for a separate output, so it is added to the output with the last wanted sats
    const { fee } = feeFor(segments.length, fixed);
    const last = segments.at(-1);
    if (last !== undefined && there - end >= fee) {
      last.to = there - fee;
      return planned(inputs, segments, fee);
    }
    const more = reserve.shift();
    if (more === undefined) return { kind: 'fee-unpaid', needed: end + fee, there };
    inputs.push(more);
  }
}

const valueOf = (coins: readonly Coin[]): number => coins.reduce((sum, { value }) => sum + value, 0);

/** Number of sats after the last wanted sat of a coin. */
function sparedBehind({ value, wanted }: Coin): number {
  const last = wanted.at(-1);
  return last === undefined ? value : value - last.offset - last.size;
}

/**
 * Cuts the sats into outputs, up to the last wanted sat. The last segment may end after the last input, because an
 * output must not be below dust.
 */
function cut(
  inputs: readonly Coin[],
  dust: { readonly special: number; readonly common: number },
): Segment[] {
  const segments: Segment[] = [];
  let done = 0;
  let start = 0;
  for (const { value, wanted } of inputs) {
    for (const { offset, size } of wanted) {
      const from = start + offset;
      const to = from + size;
      const before = segments.at(-1);
      const gap = from - done;
      if (before !== undefined && gap <= 0) {
        // these wanted sats follow directly, or are among the sats that were added to the output to avoid dust
        before.to = Math.max(before.to, to);
      } else {
        if (gap >= dust.common) segments.push({ kind: 'common', from: done, to: from });
        else if (before !== undefined) before.to = from;
        const isSplit = gap >= dust.common || before !== undefined;
        const begin = isSplit ? from : done;
        segments.push({ kind: 'special', from: begin, to: Math.max(to, begin + dust.special) });
      }
      done = segments.at(-1)?.to ?? 0;
    }
    start += value;
  }
  return segments;
}

function planned<Spent extends Coin>(
  inputs: readonly Spent[],
  segments: readonly Segment[],
  fee: number,
): Extraction<Spent> {
  return { inputs, outputs: segments.map(({ kind, from, to }) => ({ kind, value: to - from })), fee };
}

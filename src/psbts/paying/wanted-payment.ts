import assert from 'node:assert/strict';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { WantedPayment } from '#orders/paying/after-payment.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import type { SatPart } from '#psbts/planning/sat-parts.ts';
import type { LentInput } from './payment-layout.ts';

/** The sats of each input of a plan. An element is null if the sats are unknown. */
export type InputRanges = readonly (readonly SatRange[] | null)[];

/** A payment in the form that its order would see. */
export interface SeenPayment {
  readonly wanted: WantedPayment;
  /**
   * Unknown sats of outputs, by the index of the output. The ranges are ascending. Each includes its start, but not its
   * end.
   */
  readonly guessed: ReadonlyMap<number, readonly { readonly start: bigint; readonly end: bigint }[]>;
}

/**
 * First of the sats that replace unknown sats. These sats are mined in the year 2036, so an inscription on them is
 * refused.
 */
const unknownFrom = 2_050_000_000_000_000;

/**
 * Collects the outputs of a plan to the address of an order, with their sats, and the parents that the plan sends.
 * Pure.
 *
 * @param ranges sats of the inputs, or null if the order does not require certain sats
 */
export function seenPayment(
  plan: PsbtPlan,
  script: Uint8Array,
  ranges: InputRanges | null,
  parents: readonly LentInput[],
): SeenPayment {
  const guessed = new Map<number, { start: bigint; end: bigint }[]>();
  const coins = plan.outputs.flatMap((output, vout): WantedPayment['coins'] => {
    if (Buffer.compare(output.script, script) !== 0) return [];
    if (ranges === null) return [{ vout, value: output.value, ranges: null }];
    const found = rangesOf(plan.parts[vout] ?? [], ranges);
    guessed.set(vout, found.guessed);
    return [{ vout, value: output.value, ranges: found.ranges }];
  });
  const sent = new Map(parents.map(({ index, input, runes }) => [index, { value: input.value, runes }]));
  return { wanted: { coins, parents: sent }, guessed };
}

function rangesOf(parts: readonly SatPart[], known: InputRanges) {
  const ranges: SatRange[] = [];
  const guessed: { start: bigint; end: bigint }[] = [];
  let done = 0n;
  let unknown = unknownFrom;
  for (const { input, offset, size } of parts) {
    const held = known[input] ?? null;
    if (held === null) {
      ranges.push({ start: unknown, end: unknown + Number(size) });
      guessed.push({ start: done, end: done + size });
      unknown += Number(size);
    } else {
      ranges.push(...cut(held, Number(offset), Number(size)));
    }
    done += size;
  }
  return { ranges, guessed };
}

/** Cuts consecutive sats out of an output. */
function cut(ranges: readonly SatRange[], offset: number, size: number): SatRange[] {
  const found: SatRange[] = [];
  let before = offset;
  let left = size;
  for (const { start, end } of ranges) {
    const there = end - start;
    if (left === 0) break;
    if (before >= there) {
      before -= there;
      continue;
    }
    const taken = Math.min(there - before, left);
    found.push({ start: start + before, end: start + before + taken });
    left -= taken;
    before = 0;
  }
  assert(left === 0, 'an output has the sats of its value');
  return found;
}

import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { listFrom } from './range-list.ts';
import type { MadeOutput, ProvenanceSats, SatributeRule } from './satribute.ts';

/** Number of blocks that must follow an output before its sats are traced. A coinbase needs as many to be spendable. */
export const settledBlocks = 100;

export type ProvenanceRule = Extract<SatributeRule, { kind: 'provenance' }>;

/**
 * The sats of an output in the block that made the output, in the output's order, or the reason why they cannot be
 * found.
 */
export type MadeOutputSats =
  | { readonly kind: 'found'; readonly blockHash: BlockHashHex; readonly ranges: readonly SatRange[] }
  | { readonly kind: 'missing'; readonly reason: string };

/** Traced sats of an output, in the output's order, or the reason why they cannot be found. */
export type FoundSats = { readonly ranges: readonly SatRange[] } | { readonly problem: string };

/** Traced sats, by `madeOutputName`. */
export type FoundProvenance = ReadonlyMap<string, FoundSats>;

/** The name of an output with its block. If the transaction moves to another block, the output has another name. */
export const madeOutputName = ({ txid, vout, height }: MadeOutput): string => `${txid}:${vout}@${height}`;

/** The rule for the sats of some outputs, before any of them was traced. */
export const provenance = (outputs: readonly MadeOutput[]): ProvenanceRule => ({
  kind: 'provenance',
  outputs,
  sats: satsOf(outputs, new Map()),
});

/**
 * The same rule, with the traced sats. All sats must be known, because if a part is missing, these sats would look
 * common.
 */
export const withFound = (rule: ProvenanceRule, found: FoundProvenance): ProvenanceRule => ({
  ...rule,
  sats: satsOf(rule.outputs, found),
});

function satsOf(outputs: readonly MadeOutput[], found: FoundProvenance): ProvenanceSats {
  const ranges: SatRange[] = [];
  for (const output of outputs) {
    const of = found.get(madeOutputName(output));
    if (of === undefined) return { state: 'unknown', why: notYet(output) };
    if ('problem' in of)
      return { state: 'unknown', why: `${nameOf(output)} cannot be traced: ${of.problem}` };
    for (const range of of.ranges) ranges.push(range);
  }
  return { state: 'known', ranges: listFrom(ranges) };
}

const nameOf = ({ txid, vout, height }: MadeOutput): string => `output ${txid}:${vout} of block ${height}`;

const notYet = (output: MadeOutput): string =>
  `the sats of ${nameOf(output)} are still being traced; for this, the server that indexes needs a node with all blocks, and ${settledBlocks} blocks above the output`;

import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';

/**
 * Where inscriptions go, as far as one transaction decides it. The ledger applies these rules to blocks and the mempool
 * to pending transactions (ord src/index/updater/inscription_updater.rs).
 */

/**
 * Offset of a new inscription in all that the transaction's inputs give, in sats: its pointer where that lies within the
 * outputs, else the first sat of its input.
 *
 * @param pointer NaN where there is none, which is below nothing
 * @param outputValue sum of the transaction's outputs
 * @param inputOffset what the inputs before its own give; null: not known
 */
export function revealOffset<Offset extends number | null>(
  pointer: number,
  outputValue: number,
  inputOffset: Offset,
): number | Offset {
  return pointer < outputValue ? pointer : inputOffset;
}

/** Whether a new inscription is on no sat: its input gives none, or its envelope has an even field that is unknown. */
export function isUnbound(flags: number, inputValue: number | null): boolean {
  return inputValue === 0 || (flags & envelopeFlags.unrecognizedEvenField) !== 0;
}

/**
 * Offset in an output of what lies at `offset` of all outputs together, in sats; negative where it lies behind it. An
 * output of no value holds nothing.
 *
 * @param start sum of the outputs before it, not above `offset`
 */
export function offsetInOutput(offset: number, start: number, value: number): number {
  return offset < start + value ? offset - start : -1;
}

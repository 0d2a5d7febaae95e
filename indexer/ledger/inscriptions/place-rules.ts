import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';

/**
 * Rules that decide where inscriptions move within one transaction. The ledger applies these rules to blocks, and the
 * mempool applies them to pending transactions (ord src/index/updater/inscription_updater.rs).
 */

/**
 * Offset of a new inscription in the sum of the transaction's inputs, in sats. It is the pointer if the pointer is
 * within the outputs, else the first sat of the inscription's input.
 *
 * @param pointer NaN if the inscription has no pointer, because no comparison with NaN is true
 *
 * @param outputValue sum of the transaction's outputs
 *
 * @param inputOffset sum of the inputs before the inscription's input; null: unknown
 */
export function revealOffset<Offset extends number | null>(
  pointer: number,
  outputValue: number,
  inputOffset: Offset,
): number | Offset {
  return pointer < outputValue ? pointer : inputOffset;
}

/** Whether a new inscription is unbound, because its input has no value or its envelope has an unknown even field. */
export function isUnbound(flags: number, inputValue: number | null): boolean {
  return inputValue === 0 || (flags & envelopeFlags.unrecognizedEvenField) !== 0;
}

/**
 * Offset within an output of the sat at `offset` of all outputs together. Negative: the sat is after this output. An
 * output without value holds nothing.
 *
 * @param start sum of the outputs before this output, not above `offset`
 */
export function offsetInOutput(offset: number, start: number, value: number): number {
  return offset < start + value ? offset - start : -1;
}

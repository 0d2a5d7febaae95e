import { envelopeFlags } from '#indexer/parse/envelope-flags.ts';

/**
 * Rules for the places of inscriptions within one transaction. The ledger applies them to blocks, and the mempool to
 * pending transactions (ord src/index/updater/inscription_updater.rs).
 */

/**
 * Offset of a new inscription in the sum of the transaction's inputs, in sats: its pointer if that is within the
 * outputs, else the first sat of its input.
 *
 * @param pointer NaN: it has no pointer; no comparison with NaN is true
 *
 * @param outputValue sum of the transaction's outputs
 *
 * @param inputOffset sum of the inputs before its own; null: unknown
 */
export function revealOffset<Offset extends number | null>(
  pointer: number,
  outputValue: number,
  inputOffset: Offset,
): number | Offset {
  return pointer < outputValue ? pointer : inputOffset;
}

/** Whether a new inscription is unbound: its input has no value, or its envelope has an unknown even field. */
export function isUnbound(flags: number, inputValue: number | null): boolean {
  return inputValue === 0 || (flags & envelopeFlags.unrecognizedEvenField) !== 0;
}

/**
 * Offset in an output of the sat at `offset` of all outputs together; negative: the sat is after this output. An output
 * without value holds nothing.
 *
 * @param start sum of the outputs before it, not above `offset`
 */
export function offsetInOutput(offset: number, start: number, value: number): number {
  return offset < start + value ? offset - start : -1;
}

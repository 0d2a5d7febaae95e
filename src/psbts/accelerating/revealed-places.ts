import { envelopePointers } from '#indexer/parse/envelope-pointers.ts';
import { leafScript } from '#indexer/transaction/leaf-script.ts';

/** The parts of an unconfirmed transaction that determine its inscriptions. */
export interface RevealingTransaction {
  readonly inputs: readonly { readonly value: number; readonly witness: readonly Uint8Array[] }[];
  readonly outputs: readonly { readonly value: number }[];
}

/**
 * Positions of the inscriptions that a transaction reveals: the number of input sats before the sat of each
 * inscription. Inscriptions that ord will call unbound are included. Reporting an inscription that does not exist is
 * the safer error. Pure, total; the time is linear in the size of the witnesses.
 */
export function revealedPlaces({ inputs, outputs }: RevealingTransaction): number[] {
  const paid = outputs.reduce((sum, { value }) => sum + value, 0);
  let start = 0;
  return inputs.flatMap(({ value, witness }) => {
    const from = start;
    start += value;
    const script = leafScript(witness);
    // if an envelope has no pointer, its pointer is NaN, so the comparison is false
    return script === null
      ? []
      : envelopePointers(script).map((pointer) => (pointer < paid ? pointer : from));
  });
}

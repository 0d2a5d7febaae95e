import { envelopePointers } from '#indexer/parse/envelope-pointers.ts';
import { leafScript } from '#indexer/transaction/leaf-script.ts';

/** The parts of an unconfirmed transaction that its inscriptions depend on. */
export interface RevealingTransaction {
  readonly inputs: readonly { readonly value: number; readonly witness: readonly Uint8Array[] }[];
  readonly outputs: readonly { readonly value: number }[];
}

/**
 * Places of the inscriptions that a transaction reveals: how many sats of its inputs come before the sat of each. One
 * that ord will call unbound counts too: reporting an inscription that does not exist is the safer error. Pure, total;
 * time is linear in the witnesses.
 */
export function revealedPlaces({ inputs, outputs }: RevealingTransaction): number[] {
  const paid = outputs.reduce((sum, { value }) => sum + value, 0);
  let start = 0;
  return inputs.flatMap(({ value, witness }) => {
    const from = start;
    start += value;
    const script = leafScript(witness);
    // no comparison with NaN is true
    return script === null
      ? []
      : envelopePointers(script).map((pointer) => (pointer < paid ? pointer : from));
  });
}

import type { Psbt, PsbtInput } from './psbt.ts';
import { psbtFault } from './psbt-faults.ts';

/**
 * Combines several PSBTs of one transaction, each with the signatures of another signer (BIP 174, "Combiner"). All
 * signatures are kept; they are checked later. Throws `PsbtFaults`. Pure.
 */
export function combinePsbts(psbts: readonly [Psbt, ...Psbt[]]): Psbt {
  const [first, ...others] = psbts;
  const odd = others.findIndex(({ unsigned }) => Buffer.compare(unsigned, first.unsigned) !== 0);
  if (odd >= 0)
    throw psbtFault(
      `psbt[${odd + 1}] has another transaction than psbt[0]; send only PSBTs of the same transaction`,
    );
  if (others.length === 0) return first;
  const inputs = first.inputs.map((input, place) =>
    others.reduce((sum, psbt) => combined(sum, inputAt(psbt, place), place), input),
  );
  return { ...first, inputs };
}

const inputAt = ({ inputs }: Psbt, place: number): PsbtInput => inputs[place] as PsbtInput;

function combined(one: PsbtInput, other: PsbtInput, place: number): PsbtInput {
  const { spent } = one;
  if (
    spent !== null &&
    other.spent !== null &&
    (spent.value !== other.spent.value || Buffer.compare(spent.script, other.spent.script) !== 0)
  )
    throw psbtFault(`Input ${place}: two of the PSBTs disagree about the output that it spends.`);
  return {
    ...one,
    spent: spent ?? other.spent,
    sighashType: one.sighashType ?? other.sighashType,
    redeemScript: one.redeemScript ?? other.redeemScript,
    witnessScript: one.witnessScript ?? other.witnessScript,
    partialSignatures: [...one.partialSignatures, ...other.partialSignatures],
    tapKeySignatures: [...one.tapKeySignatures, ...other.tapKeySignatures],
    tapLeafSignatures: [...one.tapLeafSignatures, ...other.tapLeafSignatures],
    tapLeaves: [...one.tapLeaves, ...other.tapLeaves],
    final: one.final ?? other.final,
  };
}

import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { scriptType } from './script-type.ts';
import { compactSizeBytes, frameWeight, outputWeight } from './transaction-size.ts';

/**
 * Weight of an input without its witness. It is four times the bytes of the outpoint, of the length of the empty
 * script, and of the sequence (BIP 141).
 */
const inputWeight = 4 * 41;
/**
 * Number of bytes of a Schnorr signature with its length. The signature has 64 bytes under the default signature hash
 * (BIP 341).
 */
const signatureBytes = 1 + 64;
/**
 * Number of bytes of a control block with its length. It contains leaf version and parity, and the internal key. The
 * path of a single leaf is empty (BIP 341).
 */
const controlBlockBytes = 1 + 33;

/**
 * Number of bytes of an ECDSA signature of the wallet, in DER and with its hash type. The wallet signs again until a
 * signature has this length (signer.ts), so a weight is exact before signing.
 */
export const ecdsaSignatureBytes = 71;
/** Number of bytes of a compressed public key. */
const publicKeyBytes = 33;

/** The parts of a plan that decide its weight. */
export interface WeighedPlan {
  readonly inputs: readonly WeighedInput[];
  readonly outputs: readonly Pick<TransactionPlan['outputs'][number], 'script'>[];
}

type WeighedInput = Pick<PlannedInput, 'path' | 'leafScript' | 'script'>;

/**
 * The weight of a plan's transaction after signing. The weight is exact, because all signatures of a type have the same
 * size, and anchors are never the only inputs.
 */
export function plannedWeight({ inputs, outputs }: WeighedPlan): number {
  const spent = inputs.reduce((sum, input) => sum + weightOfInput(input), 0);
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(script), 0);
  return frameWeight(inputs.length, outputs.length) + spent + paid;
}

/** The weight of a P2TR input that is spent by key. */
export const keyInputWeight = inputWeight + 1 + signatureBytes;
/** The weight of a P2WPKH input. */
export const publicKeyHashInputWeight = inputWeight + 1 + (1 + ecdsaSignatureBytes) + (1 + publicKeyBytes);
/** The weight of an input that spends an anchor (P2A). The witness of such an input has no items. */
export const anchorInputWeight = inputWeight + 1;

/** The weight of an input that is spent through a leaf of this length. */
export function leafInputWeight(leafBytes: number): number {
  return keyInputWeight + compactSizeBytes(leafBytes) + leafBytes + controlBlockBytes;
}

/** The weight of an input that spends an output of this script by key. */
export const keyInputWeightOf = (script: Uint8Array): number =>
  scriptType(script) === 'p2wpkh' ? publicKeyHashInputWeight : keyInputWeight;

function weightOfInput({ path, leafScript, script }: WeighedInput): number {
  if (scriptType(script) === 'p2a') return anchorInputWeight;
  return path === 'key' || leafScript === null
    ? keyInputWeightOf(script)
    : leafInputWeight(leafScript.length);
}

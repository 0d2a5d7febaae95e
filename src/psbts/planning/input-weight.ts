import { compactSizeBytes, outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import type { Signer, SignerType } from '#psbts/signers/signer.ts';

const witnessFactor = 4;
/** Bytes of an input without signatures: outpoint, length of the script, sequence. */
const inputBytes = 41;
/**
 * Bytes of a witness: number of items; DER signature with its type, at most 72 bytes with a low s; compressed key (BIP
 * 141).
 */
const keyHashWitness = 1 + (1 + 72) + (1 + 33);
/** Bytes of the script of P2SH-P2WPKH: length, and push of the witness program. */
const redeemPush = 23;

/** Weights of signed inputs, by type. */
const weights: Readonly<Record<SignerType, number>> = {
  // SIGHASH_DEFAULT signatures have 64 bytes; wallets use them if the PSBT names no other type (BIP 341)
  p2tr: witnessFactor * inputBytes + 1 + (1 + 64),
  p2wpkh: witnessFactor * inputBytes + keyHashWitness,
  p2sh: witnessFactor * (inputBytes + redeemPush) + keyHashWitness,
  p2pkh: witnessFactor * (inputBytes + (1 + 72) + (1 + 33)),
};

/**
 * The weight of a signed input with the largest signature that wallets make for this type. ECDSA signatures are usually
 * up to one byte shorter, which changes fees by less than 1 %.
 */
export const inputWeight = (type: SignerType): number => weights[type];

/** Numbers and weights of the parts of a transaction. They determine the weight of the transaction. */
export interface WeighedParts {
  readonly inputs: number;
  /** Inputs without a witness. */
  readonly legacy: number;
  /** Weight of all inputs. */
  readonly spending: number;
  readonly outputs: number;
  /** Weight of all outputs. */
  readonly paying: number;
}

export interface WeighedInput {
  readonly signer: Pick<Signer, 'type'>;
}

export interface WeighedOutput {
  readonly script: Uint8Array;
}

/** Counts and weighs the parts of a transaction. */
export const weighedParts = (
  inputs: readonly WeighedInput[],
  outputs: readonly WeighedOutput[],
): WeighedParts => ({
  inputs: inputs.length,
  legacy: inputs.filter(({ signer }) => signer.type === 'p2pkh').length,
  spending: inputs.reduce((sum, { signer }) => sum + inputWeight(signer.type), 0),
  outputs: outputs.length,
  paying: outputs.reduce((sum, { script }) => sum + outputWeight(script), 0),
});

/** The parts with additional inputs of one type. */
export const withInputs = (parts: WeighedParts, type: SignerType, count: number): WeighedParts => ({
  ...parts,
  inputs: parts.inputs + count,
  legacy: parts.legacy + (type === 'p2pkh' ? count : 0),
  spending: parts.spending + count * inputWeight(type),
});

/** The parts with one more output. */
export const withOutput = (parts: WeighedParts, { script }: WeighedOutput): WeighedParts => ({
  ...parts,
  outputs: parts.outputs + 1,
  paying: parts.paying + outputWeight(script),
});

/** The weight of a transaction signed by wallets, with the largest possible signatures. */
export function signedWeight({ inputs, legacy, spending, outputs, paying }: WeighedParts): number {
  // marker and flag, and one byte for the empty witness of each input that has no witness (BIP 144)
  const witness = legacy < inputs ? 2 + legacy : 0;
  const frame = witnessFactor * (8 + compactSizeBytes(inputs) + compactSizeBytes(outputs));
  return frame + witness + spending + paying;
}

import { type ScriptType, scriptType } from './script-type.ts';

/** Maximum weight that nodes relay (Bitcoin Core policy.h MAX_STANDARD_TX_WEIGHT). */
export const standardWeightMax = 400_000;

const witnessFactor = 4;
/** Bytes of an input without script and witness: outpoint, length of the script, sequence. */
const inputBytes = 41;

/**
 * Weight of an input once it is signed by one key, with signatures of the largest size: DER of 72 bytes, and Schnorr
 * with its type byte. P2SH is treated as P2SH-P2WPKH, the kind that wallets use. Null: the size does not follow from
 * the script.
 */
export function signedInputWeight(script: Uint8Array): number | null {
  const keyAndSignature = 1 + 1 + 72 + 1 + 33;
  const weights: Readonly<Partial<Record<ScriptType, number>>> = {
    p2wpkh: witnessFactor * inputBytes + keyAndSignature,
    p2sh: witnessFactor * (inputBytes + 23) + keyAndSignature,
    // no witness: its count is not a byte unless another input has one
    p2pkh: witnessFactor * (inputBytes + keyAndSignature - 1),
    p2tr: witnessFactor * inputBytes + 1 + 1 + 65,
  };
  return weights[scriptType(script)] ?? null;
}

/** Weight of an output. */
export const outputWeight = (script: Uint8Array): number =>
  witnessFactor * (8 + compactSizeBytes(script.length) + script.length);

/** Weight of a transaction without its inputs and outputs. */
export function frameWeight(inputs: number, outputs: number): number {
  // version and lock time; marker and flag of the witness (BIP 144)
  return witnessFactor * (8 + compactSizeBytes(inputs) + compactSizeBytes(outputs)) + 2;
}

/** Virtual bytes of a weight. */
export const virtualSize = (weight: number): number => Math.ceil(weight / witnessFactor);

/** Bytes of a count or length. */
export const compactSizeBytes = (value: number): number => (value < 0xfd ? 1 : value <= 0xffff ? 3 : 5);

/**
 * Rate in sats per byte at which spending an output may cost as much as it holds (Bitcoin Core's DUST_RELAY_TX_FEE).
 */
const dustRate = 3;
/**
 * Bytes that Core assumes for the input that spends an output: an output of a witness program, and any other output.
 */
const spendingBytes = { witness: 67, other: 148 } as const;

/** Minimum value in sats with which nodes relay an output (Bitcoin Core policy.cpp, GetDustThreshold). */
export function dustOf(script: Uint8Array): number {
  const isWitness = ['p2wpkh', 'p2wsh', 'p2tr', 'p2a', 'witness'].includes(scriptType(script));
  const bytes = outputWeight(script) / witnessFactor;
  return dustRate * (bytes + spendingBytes[isWitness ? 'witness' : 'other']);
}

/** `value`, or the dust limit of nodes if it is higher, in sats. */
export function atLeastDust(value: bigint, script: Uint8Array): bigint {
  const dust = BigInt(dustOf(script));
  return value < dust ? dust : value;
}

import { type ScriptType, scriptType } from './script-type.ts';

/** Maximum weight that nodes relay (Bitcoin Core policy.h MAX_STANDARD_TX_WEIGHT). */
export const standardWeightMax = 400_000;

const witnessFactor = 4;
/** Number of bytes of an input without script and witness. It has outpoint, length of the script, and sequence. */
const inputBytes = 41;

/**
 * Weight of an input after it is signed by one key. Signatures are assumed to have the largest size, which is 72 bytes
 * for DER, and Schnorr with its type byte. P2SH is treated as P2SH-P2WPKH, which wallets use. `null` if the size does
 * not follow from the script.
 */
export function signedInputWeight(script: Uint8Array): number | null {
  const keyAndSignature = 1 + 1 + 72 + 1 + 33;
  const weights: Readonly<Partial<Record<ScriptType, number>>> = {
    p2wpkh: witnessFactor * inputBytes + keyAndSignature,
    p2sh: witnessFactor * (inputBytes + 23) + keyAndSignature,
    // this input has no witness, so it has no byte for the count of witness items unless another input has a witness
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
  // version and lock time; then marker and flag of the witness (BIP 144)
  return witnessFactor * (8 + compactSizeBytes(inputs) + compactSizeBytes(outputs)) + 2;
}

/** Number of virtual bytes of a weight. */
export const virtualSize = (weight: number): number => Math.ceil(weight / witnessFactor);

/** Number of bytes of a count or length. */
export const compactSizeBytes = (value: number): number => (value < 0xfd ? 1 : value <= 0xffff ? 3 : 5);

/**
 * Rate in sats per byte. An output is dust if its own bytes and the bytes that spend it cost more at this rate than the
 * output contains (Bitcoin Core's DUST_RELAY_TX_FEE).
 */
const dustRate = 3;
/**
 * Number of bytes that Bitcoin Core assumes for the input that spends an output. It differs for outputs of witness
 * programs and all other outputs.
 */
const spendingBytes = { witness: 67, other: 148 } as const;

/** Minimum value in sats of an output that nodes relay (Bitcoin Core policy.cpp, GetDustThreshold). */
export function dustOf(script: Uint8Array): number {
  const isWitness = ['p2wpkh', 'p2wsh', 'p2tr', 'p2a', 'witness'].includes(scriptType(script));
  const bytes = outputWeight(script) / witnessFactor;
  return dustRate * (bytes + spendingBytes[isWitness ? 'witness' : 'other']);
}

/** `value`, or the dust limit of nodes if this limit is higher, in sats. */
export function atLeastDust(value: bigint, script: Uint8Array): bigint {
  const dust = BigInt(dustOf(script));
  return value < dust ? dust : value;
}

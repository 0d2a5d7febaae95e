import { feeOf } from '#kernel/bitcoin/fee.ts';
import { frameWeight, outputWeight } from '#kernel/bitcoin/transaction-size.ts';

/** Script of an anchor: OP_1 <4e73> (P2A). Anyone can spend such an output, so anyone can pay for its transaction. */
export const anchorScript = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
/**
 * Script that consists only of OP_RETURN. If a script starts with this byte, ord burns the inscriptions in the output.
 */
export const burnScript = Uint8Array.of(0x6a);

/** Smallest values of a P2TR output and of an anchor that nodes relay (`dustOf`). */
export const p2trDust = 330n;
export const anchorDust = 240n;

export const p2trOutputWeight = outputWeight(new Uint8Array(34));
export const anchorOutputWeight = outputWeight(anchorScript);

/** Number of inputs and of outputs of a transaction, and the weight of all of them. */
export interface Parts {
  readonly inputs: number;
  readonly outputs: number;
  readonly weight: number;
}

/** The weight of a transaction with these parts and one more output. */
export const weightWith = ({ inputs, outputs, weight }: Parts, output: number): number =>
  frameWeight(inputs, outputs + 1) + weight + output;

export const valueOf = (parts: readonly { readonly value: bigint }[]): bigint =>
  parts.reduce((sum, { value }) => sum + value, 0n);

/** Our output of a transaction. By spending this output, we can pay for the transaction later (CPFP). */
export interface OwnOutput {
  /** `service` (P2TR) if the output is worth keeping, else `anchor`. */
  readonly kind: 'service' | 'anchor';
  readonly value: bigint;
  /** Weight of the whole transaction. */
  readonly weight: number;
  readonly fee: bigint;
}

/** Sats that our output of a reveal can lose and still be P2TR. */
export const spareOf = ({ kind, value }: OwnOutput): bigint => (kind === 'service' ? value - p2trDust : 0n);

/**
 * Our output if `share` sats are ours after the fee. It is P2TR if `share` is at least P2TR's dust limit, else an
 * anchor. The output's value and the fee together are at least `least`. If the share is too small for that, the
 * customer pays the difference.
 */
export function ownOutputFor(parts: Parts, feeRate: bigint, share: bigint, least = 0n): OwnOutput {
  const kind = share >= p2trDust ? 'service' : 'anchor';
  const weight = weightWith(parts, kind === 'service' ? p2trOutputWeight : anchorOutputWeight);
  const fee = feeOf(weight, feeRate);
  const dust = kind === 'service' ? p2trDust : anchorDust;
  return { kind, value: largest(share, dust, least - fee), weight, fee };
}

/**
 * Our output if `rest` sats remain for the output and the fee together. Null if `rest` does not even pay for an anchor.
 * Invariant: if `rest` is the value and fee of an output of `ownOutputFor`, the result is the same output.
 */
export function ownOutputFrom(parts: Parts, feeRate: bigint, rest: bigint): OwnOutput | null {
  for (const [kind, output, dust] of ownKinds) {
    const weight = weightWith(parts, output);
    const fee = feeOf(weight, feeRate);
    if (rest - fee >= dust) return { kind, value: rest - fee, weight, fee };
  }
  return null;
}

const ownKinds = [
  ['service', p2trOutputWeight, p2trDust],
  ['anchor', anchorOutputWeight, anchorDust],
] as const;

export const largest = (...amounts: readonly bigint[]): bigint =>
  amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);

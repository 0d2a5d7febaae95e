import { feeOf } from '#kernel/bitcoin/fee.ts';
import { frameWeight, outputWeight } from '#kernel/bitcoin/transaction-size.ts';

/** OP_1 <4e73> (P2A): anyone can spend it, so anyone can pay for its transaction. */
export const anchorScript = Uint8Array.of(0x51, 0x02, 0x4e, 0x73);
/** A bare OP_RETURN: by this first byte, ord burns the inscriptions in the output. */
export const burnScript = Uint8Array.of(0x6a);

/** The least values that nodes relay (`dustOf`), for P2TR and for an anchor. */
export const p2trDust = 330n;
export const anchorDust = 240n;

export const p2trOutputWeight = outputWeight(new Uint8Array(34));
export const anchorOutputWeight = outputWeight(anchorScript);

/** The inputs and outputs of a transaction: their numbers, and their weight. */
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

/** Our output of a transaction. With it we can pay for the transaction later (CPFP). */
export interface OwnOutput {
  /** P2TR if it is worth keeping, else an anchor. */
  readonly kind: 'service' | 'anchor';
  readonly value: bigint;
  /** Weight of the whole transaction. */
  readonly weight: number;
  readonly fee: bigint;
}

/** Sats that our output of a reveal can give and stay P2TR. */
export const spareOf = ({ kind, value }: OwnOutput): bigint => (kind === 'service' ? value - p2trDust : 0n);

/**
 * Our output if `share` sats are ours after the fee: P2TR if these are at least its dust, else an anchor. Its value and
 * the fee are at least `least` together. The customer pays what the share lacks.
 */
export function ownOutputFor(parts: Parts, feeRate: bigint, share: bigint, least = 0n): OwnOutput {
  const kind = share >= p2trDust ? 'service' : 'anchor';
  const weight = weightWith(parts, kind === 'service' ? p2trOutputWeight : anchorOutputWeight);
  const fee = feeOf(weight, feeRate);
  const dust = kind === 'service' ? p2trDust : anchorDust;
  return { kind, value: largest(share, dust, least - fee), weight, fee };
}

/**
 * Our output if `rest` sats remain for it and the fee. Null: they do not even pay for an anchor. Invariant: for the
 * rest of an output by `ownOutputFor`, the result is that output.
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

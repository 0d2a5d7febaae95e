import assert from 'node:assert/strict';
import { dustOf, standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import type { BlockHashHex, Txid } from '#kernel/primitives/hash.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { Signer } from '#psbts/signers/signer.ts';
import { signedWeight, weighedParts } from './input-weight.ts';
import { type SatPart, satParts } from './sat-parts.ts';

/** An output of a customer that a PSBT spends. Amounts are in sats. */
export interface PsbtInput {
  /** Internal order. */
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  /** The address of the output. */
  readonly signer: Signer;
  /** The block of the output's transaction, or null if the transaction is in the mempool. */
  readonly blockHash: BlockHashHex | null;
}

/**
 * Purpose of an output:
 *
 * - `ordinals`: returns sats to the ordinals address.
 * - `change`: returns sats to the payment address.
 * - `deposit`: sends a parent to its deposit address.
 * - `postage` and `charge`: pay the funding address of the order.
 * - `burn`: burns sats.
 * - `runestone`: moves runes.
 */
export type OutputPurpose = 'deposit' | 'postage' | 'charge' | 'ordinals' | 'change' | 'burn' | 'runestone';

export interface PsbtOutput {
  readonly script: Uint8Array;
  readonly value: bigint;
  readonly purpose: OutputPurpose;
}

/** A transaction for wallets to sign. The inputs and outputs are in their final sequence. */
export interface PsbtPlan {
  /**
   * Version of the transaction. It is 3 (TRUC, BIP 431) only if the transaction spends unconfirmed outputs of version
   * 3.
   */
  readonly version: 2 | 3;
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly PsbtOutput[];
  readonly fee: bigint;
  /** Weight of the signed transaction, with the largest signatures. */
  readonly weight: number;
  /** The sats that each output gets, first in, first out. */
  readonly parts: readonly (readonly SatPart[])[];
  /** The sats that are the fee. */
  readonly feeParts: readonly SatPart[];
}

/**
 * Minimum size without the witness, in bytes. Bitcoin Core does not relay smaller transactions (policy.h,
 * MIN_STANDARD_TX_NONWITNESS_SIZE).
 */
const strippedBytesMin = 65;
const opReturn = 0x6a;

/**
 * Makes a plan with these inputs and outputs. The fee is the sats that no output gets. Asserts the invariants of every
 * plan: it spends each output once, no output is dust, nodes relay its size, and no other sat appears or disappears.
 */
export function psbtPlan({
  inputs,
  outputs,
  version = 2,
}: Pick<PsbtPlan, 'inputs' | 'outputs'> & { readonly version?: PsbtPlan['version'] }): PsbtPlan {
  const fee = valueOf(inputs) - valueOf(outputs);
  assert(inputs.length > 0 && outputs.length > 0, 'a transaction has inputs and outputs');
  assert(fee > 0n, `a plan that leaves ${fee} sats for its fee`);
  const names = new Set(inputs.map(({ txid, vout }) => `${Buffer.from(txid).toString('hex')}:${vout}`));
  assert(names.size === inputs.length, 'a plan spends each output once');
  for (const { script, value, purpose } of outputs) {
    const least = script[0] === opReturn ? 0 : dustOf(script);
    assert(value >= BigInt(least), `an output of ${value} sats for ${purpose} is dust`);
  }
  const weight = signedWeight(weighedParts(inputs, outputs));
  assert(weight <= standardWeightMax, `a plan of ${weight} weight units`);
  assert(strippedBytes({ inputs, outputs }) >= strippedBytesMin, 'a transaction of fewer than 65 bytes');
  const { outputs: parts, fee: feeParts } = satParts(inputs, outputs);
  return { version, inputs, outputs, fee, weight, parts, feeParts };
}

/**
 * Number of bytes without the witness. Signatures of P2PKH inputs are not counted, because they do not matter for the
 * minimum size.
 */
function strippedBytes({ inputs, outputs }: Pick<PsbtPlan, 'inputs' | 'outputs'>): number {
  return 10 + 41 * inputs.length + outputs.reduce((sum, { script }) => sum + 9 + script.length, 0);
}

/** Indices of the inputs that an address signs. */
export const inputsOf = ({ inputs }: Pick<PsbtPlan, 'inputs'>, role: Signer['role']): number[] =>
  inputs.flatMap(({ signer }, index) => (signer.role === role ? [index] : []));

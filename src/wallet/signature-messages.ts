import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { compactSize, u32, u64 } from '#kernel/bitcoin/transaction-bytes.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { leafVersion } from './taproot.ts';

/** Epoch 0, and SIGHASH_DEFAULT: a signature commits to all inputs, their values and scripts, and to all outputs. */
const epochAndType = Buffer.of(0, 0);
/** Spend types without annex: by key, and through a leaf. */
const byKey = Buffer.of(0);
const throughLeaf = Buffer.of(2);
/** Version 0 of the key in a leaf, and no OP_CODESEPARATOR before its signature (BIP 342). */
const leafEnd = Buffer.of(0, 0xff, 0xff, 0xff, 0xff);

/**
 * Makes what each input of a plan signs (BIP 341, "Common signature message"). What all inputs share is hashed once:
 * a library that hashes it for each input takes four times as long for a thousand of them.
 */
export function signatureMessages(plan: Omit<TransactionPlan, 'feeMax'>): (place: number) => Uint8Array {
  const { version, lockTime, inputs, outputs } = plan;
  const shared = Buffer.concat([
    epochAndType,
    u32(version),
    u32(lockTime),
    sha256(inputs.map(({ txid, vout }) => Buffer.concat([txid, u32(vout)]))),
    sha256(inputs.map(({ value }) => u64(value))),
    sha256(inputs.map(({ script }) => withLength(script))),
    sha256(inputs.map(({ sequence }) => u32(sequence))),
    sha256(outputs.map(outputBytes)),
  ]);
  return (place) => {
    const input = inputs[place];
    assert(input !== undefined, 'an input of the plan signs');
    const end = input.path === 'key' ? [byKey, u32(place)] : [throughLeaf, u32(place), leafBytes(input)];
    return sha256([sighashTag, sighashTag, shared, ...end]);
  };
}

function leafBytes({ leafScript }: PlannedInput): Buffer {
  assert(leafScript !== null, 'a leaf that is spent is there');
  return Buffer.concat([tapLeafHash(leafScript, leafVersion), leafEnd]);
}

const outputBytes = ({ value, script }: Pick<PlannedOutput, 'value' | 'script'>): Buffer =>
  Buffer.concat([u64(value), withLength(script)]);

function sha256(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const sighashTag = sha256([Buffer.from('TapSighash')]);

/** A script after its length. */
const withLength = (script: Uint8Array): Buffer => Buffer.concat([compactSize(script.length), script]);

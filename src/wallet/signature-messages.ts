import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { tapLeafHash } from '@scure/btc-signer/payment.js';
import { scriptType } from '#kernel/bitcoin/script-type.ts';
import { compactSize, u32, u64 } from '#kernel/bitcoin/transaction-bytes.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { leafVersion } from './taproot.ts';

/**
 * Epoch 0, and SIGHASH_DEFAULT. A signature of this type commits to all inputs with their values and scripts, and to
 * all outputs.
 */
const epochAndType = Buffer.of(0, 0);
/** Spend types without an annex: by key (`byKey`), and through a leaf. */
const byKey = Buffer.of(0);
const throughLeaf = Buffer.of(2);
/** Key version 0 in a leaf, and no OP_CODESEPARATOR before the signature (BIP 342). */
const leafEnd = Buffer.of(0, 0xff, 0xff, 0xff, 0xff);

/** SIGHASH_ALL for a P2WPKH input. A signature of this type also commits to all inputs and outputs (BIP 143). */
export const sighashAll = 1;

/**
 * Returns a function that makes the message for the signature of an input. The message depends on the type of the
 * input's script. Hashes that all inputs share are computed only once. A library that computes these hashes for each
 * input would take four times as long for a thousand inputs.
 */
export function signatureMessages(plan: Omit<TransactionPlan, 'feeMax'>): (place: number) => Uint8Array {
  const ofTaproot = taprootMessages(plan);
  let ofKeyHash: ReturnType<typeof publicKeyHashMessages> | null = null;
  return (place) => {
    const input = plan.inputs[place];
    assert(input !== undefined, 'an input of the plan signs');
    if (scriptType(input.script) !== 'p2wpkh') return ofTaproot(input, place);
    ofKeyHash ??= publicKeyHashMessages(plan);
    return ofKeyHash(input);
  };
}

/** Makes the messages of BIP 341, "Common signature message". */
function taprootMessages(
  plan: Omit<TransactionPlan, 'feeMax'>,
): (input: PlannedInput, place: number) => Uint8Array {
  const { version, lockTime, inputs, outputs } = plan;
  const shared = Buffer.concat([
    epochAndType,
    u32(version),
    u32(lockTime),
    sha256(inputs.map(outpointBytes)),
    sha256(inputs.map(({ value }) => u64(value))),
    sha256(inputs.map(({ script }) => withLength(script))),
    sha256(inputs.map(({ sequence }) => u32(sequence))),
    sha256(outputs.map(outputBytes)),
  ]);
  return (input, place) => {
    const end = input.path === 'key' ? [byKey, u32(place)] : [throughLeaf, u32(place), leafBytes(input)];
    return sha256([sighashTag, sighashTag, shared, ...end]);
  };
}

/** Makes the messages of BIP 143. The script code of a P2WPKH input is the P2PKH script of the same hash. */
function publicKeyHashMessages(plan: Omit<TransactionPlan, 'feeMax'>): (input: PlannedInput) => Uint8Array {
  const { version, lockTime, inputs, outputs } = plan;
  const prevouts = doubleSha256(inputs.map(outpointBytes));
  const sequences = doubleSha256(inputs.map(({ sequence }) => u32(sequence)));
  const paid = doubleSha256(outputs.map(outputBytes));
  return (input) =>
    doubleSha256([
      u32(version),
      prevouts,
      sequences,
      outpointBytes(input),
      withLength(Buffer.concat([scriptCodeStart, input.script.subarray(2), scriptCodeEnd])),
      u64(input.value),
      u32(input.sequence),
      paid,
      u32(lockTime),
      u32(sighashAll),
    ]);
}

/** First bytes of the script code: OP_DUP OP_HASH160, and the push of a hash. */
const scriptCodeStart = Buffer.of(0x76, 0xa9, 20);
/** Last bytes of the script code: OP_EQUALVERIFY and OP_CHECKSIG. */
const scriptCodeEnd = Buffer.of(0x88, 0xac);

const outpointBytes = ({ txid, vout }: Pick<PlannedInput, 'txid' | 'vout'>): Buffer =>
  Buffer.concat([txid, u32(vout)]);

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

const doubleSha256 = (parts: readonly Uint8Array[]): Buffer => sha256([sha256(parts)]);

const sighashTag = sha256([Buffer.from('TapSighash')]);

/** A script with its length in front. */
const withLength = (script: Uint8Array): Buffer => Buffer.concat([compactSize(script.length), script]);

import type { ByteWriter } from './byte-writer.ts';
import { tag, writeEnvelope, writePush } from './envelope.ts';

export interface Input {
  /** Txid of the spent output, in internal order. */
  readonly txid: Uint8Array;
  readonly vout: number;
  readonly scriptSig: Uint8Array;
  readonly witness: readonly Uint8Array[];
}

export interface Output {
  readonly value: number;
  readonly script: Uint8Array;
}

export interface Transaction {
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
}

const sequence = 0xfffffffd;

/**
 * Writes a version 2 transaction, with the witness (BIP 144) or without it. The txid hashes the form without the
 * witness.
 */
export function writeTransaction(out: ByteWriter, transaction: Transaction, withWitness: boolean): void {
  // if no input has a witness, only the short form is valid (BIP 144)
  const isSegwit = withWitness && transaction.inputs.some(({ witness }) => witness.length > 0);
  out.u32(2);
  if (isSegwit) {
    out.u8(0);
    out.u8(1);
  }
  out.compactSize(transaction.inputs.length);
  for (const input of transaction.inputs) {
    out.set(input.txid);
    out.u32(input.vout);
    out.sized(input.scriptSig);
    out.u32(sequence);
  }
  out.compactSize(transaction.outputs.length);
  for (const output of transaction.outputs) {
    out.u64(output.value);
    out.sized(output.script);
  }
  if (isSegwit) {
    for (const input of transaction.inputs) {
      out.compactSize(input.witness.length);
      for (const item of input.witness) out.sized(item);
    }
  }
  out.u32(0);
}

/**
 * The script of an ordinary reveal: key, OP_CHECKSIG, envelope with a content type and a body in pushes of 520 bytes.
 */
export function writeRevealScript(
  out: ByteWriter,
  key: Uint8Array,
  contentType: Uint8Array,
  body: Uint8Array,
  metadata?: Uint8Array,
): void {
  writePush(out, key);
  out.u8(0xac);
  const more = metadata === undefined ? [] : [[tag.metadata, metadata] as const];
  writeEnvelope(out, { fields: [[tag.contentType, contentType], ...more], body });
}

import { createHash } from 'node:crypto';
import { RawTx } from '@scure/btc-signer';
import type { PlannedInput, PlannedOutput } from '#kernel/contracts/transaction-plan.ts';
import { asTxid, displayHash, type Txid } from '#kernel/primitives/hash.ts';

/** A transaction of the wallet, without its witnesses. */
export interface EncodedTransaction {
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly Pick<PlannedInput, 'txid' | 'vout' | 'sequence'>[];
  readonly outputs: readonly Pick<PlannedOutput, 'script' | 'value'>[];
}

const noBytes = new Uint8Array();

/** The bytes of a transaction for its txid, up to and including the lock time. Signing does not change these bytes. */
export function unsignedTransaction(transaction: EncodedTransaction): {
  readonly bytes: Uint8Array;
  readonly txid: Txid;
} {
  const bytes = RawTx.encode({ ...frameOf(transaction), segwitFlag: false, witnesses: undefined });
  return { bytes, txid: asTxid(doubleSha256(bytes)) };
}

/** The bytes of a transaction, including the witness of each input (BIP 144). */
export const withWitnesses = (transaction: EncodedTransaction, witnesses: Uint8Array[][]): Uint8Array =>
  RawTx.encode({ ...frameOf(transaction), segwitFlag: true, witnesses });

const frameOf = ({ version, lockTime, inputs, outputs }: EncodedTransaction) => ({
  version,
  lockTime,
  inputs: inputs.map(({ txid, vout, sequence }) => ({
    txid: Buffer.from(displayHash(txid), 'hex'),
    index: vout,
    finalScriptSig: noBytes,
    sequence,
  })),
  outputs: outputs.map(({ script, value }) => ({ amount: value, script })),
});

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Bitcoin's double SHA-256 hash. The result has 32 bytes in internal order. */
export const doubleSha256 = (bytes: Uint8Array): Buffer => sha256(sha256(bytes));

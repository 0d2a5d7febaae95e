import { hash as digest } from 'node:crypto';
import { RawTx } from '@scure/btc-signer';
import type { RegtestTransaction } from './regtest-transaction.ts';

const doubleSha256 = (bytes: Uint8Array): Buffer =>
  digest('sha256', digest('sha256', bytes, 'buffer'), 'buffer');

const headerBytes = 80;
const rootAt = 36;
const nonceAt = 76;

/**
 * The block that `generateblock` made of these transactions, but with their fees paid to its coinbase, because the call
 * itself claims no fees. The coinbase's other outputs, including the witness commitment, are unchanged.
 */
export function withFees(blockHex: string, transactions: readonly RegtestTransaction[]): Buffer {
  const block = Buffer.from(blockHex, 'hex');
  const others = transactions.map(({ hex }) => Buffer.from(hex, 'hex'));
  const length = others.reduce((sum, bytes) => sum + bytes.length, 0);
  const countBytes = transactions.length + 1 < 0xfd ? 1 : 3;
  const start = headerBytes + countBytes;
  const coinbase = RawTx.decode(block.subarray(start, block.length - length));
  const fees = transactions.reduce((sum, { fee }) => sum + fee, 0);
  const [first, ...rest] = coinbase.outputs;
  const amount = (first!.amount as bigint) + BigInt(fees);
  const outputs = [{ ...first!, amount }, ...rest];
  const paid = RawTx.encode({ ...coinbase, outputs });
  const { witnesses: _, ...plain } = coinbase;
  const id = doubleSha256(RawTx.encode({ ...plain, segwitFlag: false, outputs }));
  const ids = transactions.map(({ txid }) => Buffer.from(txid, 'hex').reverse());
  const header = Buffer.from(block.subarray(0, headerBytes));
  merkleRoot([id, ...ids]).copy(header, rootAt);
  return Buffer.concat([proven(header), block.subarray(headerBytes, start), paid, ...others]);
}

function merkleRoot(ids: readonly Buffer[]): Buffer {
  let level = [...ids];
  while (level.length > 1) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
      const left = level[2 * index]!;
      return Buffer.concat([left, level[2 * index + 1] ?? left]);
    });
    level = pairs.map(doubleSha256);
  }
  return level[0]!;
}

/** A header with a valid nonce for regtest. On average, every second nonce is valid. */
function proven(header: Buffer): Buffer {
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, nonceAt);
    if (doubleSha256(header)[31]! < 0x7f) return header;
  }
}

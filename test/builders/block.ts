import { ByteWriter } from './byte-writer.ts';
import { doubleHash, merkleRoot } from './merkle.ts';
import { type Output, type Transaction, writeTransaction } from './transaction.ts';

const regtestBits = 0x207fffff;
const zeros = new Uint8Array(32);
const commitmentHead = Buffer.from('6a24aa21a9ed', 'hex');

export interface RawBlock {
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The 80 bytes of a header, with a nonce that meets regtest's difficulty: two tries on average. */
export function mineHeader(
  previous: Uint8Array,
  root: Uint8Array,
  time: number,
): { header: Uint8Array; hash: Uint8Array } {
  const header = Buffer.alloc(80);
  header.writeUInt32LE(0x20000000, 0);
  header.set(previous, 4);
  header.set(root, 36);
  header.writeUInt32LE(time, 68);
  header.writeUInt32LE(regtestBits, 72);
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, 76);
    const hash = doubleHash(header);
    if (hash[31]! < 0x7f) return { header, hash };
  }
}

/**
 * sha256d of two values (BIP 141): the root over the wtxids, where the coinbase's wtxid is zero, and the reserved
 * value.
 */
export function witnessCommitment(wtxids: Uint8Array, reserved: Uint8Array): Uint8Array {
  return doubleHash(Buffer.concat([merkleRoot(wtxids), reserved]));
}

/**
 * The script of a coinbase. It has the height as a minimal push (BIP 34), and a second push, because consensus requires
 * two bytes.
 */
function coinbaseScript(height: number): Uint8Array {
  if (height <= 16) return Buffer.from([0x50 + height, 0x00]);
  const number: number[] = [];
  for (let rest = height; rest > 0; rest >>>= 8) number.push(rest & 0xff);
  if ((number.at(-1) as number) >= 0x80) number.push(0);
  return Buffer.from([number.length, ...number, 0x00]);
}

/** Collects the serialised transactions of a block, and puts the header and the coinbase before them. */
export class BlockBuilder {
  readonly #body = new ByteWriter(4 << 20);
  readonly #stripped = new ByteWriter();
  readonly #txids = new ByteWriter(1 << 18);
  readonly #wtxids = new ByteWriter(1 << 18);
  #transactions = 0;
  #strippedBytes = 0;

  /** Weight units of the added transactions (BIP 141), without header and coinbase. */
  get weight(): number {
    return this.#body.length + 3 * this.#strippedBytes;
  }

  /** Number of added transactions, without the coinbase. */
  get transactions(): number {
    return this.#transactions;
  }

  /** Appends a transaction and returns its txid. */
  add(transaction: Transaction): Uint8Array {
    const start = this.#body.length;
    writeTransaction(this.#body, transaction, true);
    this.#stripped.clear();
    writeTransaction(this.#stripped, transaction, false);
    const txid = doubleHash(this.#stripped.view());
    this.#strippedBytes += this.#stripped.length;
    this.#txids.set(txid);
    this.#wtxids.set(doubleHash(this.#body.bytes.subarray(start, this.#body.length)));
    this.#transactions++;
    return txid;
  }

  /** Returns the block with a coinbase that pays `outputs`. The builder is then empty. */
  finish(
    height: number,
    previous: Uint8Array,
    time: number,
    outputs: readonly Output[],
  ): RawBlock & { coinbase: Uint8Array } {
    const commitment = witnessCommitment(Buffer.concat([zeros, this.#wtxids.view()]), zeros);
    const coinbase: Transaction = {
      inputs: [{ txid: zeros, vout: 0xffffffff, scriptSig: coinbaseScript(height), witness: [zeros] }],
      outputs: [...outputs, { value: 0, script: Buffer.concat([commitmentHead, commitment]) }],
    };
    this.#stripped.clear();
    writeTransaction(this.#stripped, coinbase, false);
    const coinbaseTxid = doubleHash(this.#stripped.view());
    const root = merkleRoot(Buffer.concat([coinbaseTxid, this.#txids.view()]));
    const { header, hash } = mineHeader(previous, root, time);
    const block = new ByteWriter(this.#body.length + 1024);
    block.set(header);
    block.compactSize(this.#transactions + 1);
    writeTransaction(block, coinbase, true);
    block.set(this.#body.view());
    for (const part of [this.#body, this.#txids, this.#wtxids]) part.clear();
    this.#transactions = 0;
    this.#strippedBytes = 0;
    return { hash, bytes: block.view(), coinbase: coinbaseTxid };
  }
}

/** Block 0 of regtest, which every node has: its header, and mainnet's coinbase. */
export const regtestGenesis: RawBlock = {
  hash: Buffer.from('0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206', 'hex').reverse(),
  bytes: new Uint8Array(
    Buffer.from(
      '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f61' +
        '7fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000' +
        '0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054' +
        '696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f7574' +
        '20666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0' +
        'ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
      'hex',
    ),
  ),
};

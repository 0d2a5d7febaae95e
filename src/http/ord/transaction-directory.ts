import type pg from 'pg';
import { blocksOf } from '#chain/header.queries.ts';
import type { TransactionPlace } from '#chain/output.queries.ts';
import { TransactionReader, txidOf } from '#kernel/bitcoin/raw-transaction.ts';
import type { RawBlocks } from './raw-blocks.ts';

/** As much is read and hashed for the first question, within some seconds; a chain of more takes a node. */
const bytesMax = 256 * 1024 * 1024;

/**
 * Where the transactions of a small chain are, for servers without a node: the beginnings of all txids, 4 bytes each, read from
 * the blocks when they are first asked for.
 */
export class TransactionDirectory {
  private readonly rawBlocks: RawBlocks;
  /** First four bytes of the txids of a block, by the hex of its hash. */
  private readonly known = new Map<string, Uint32Array>();
  private working: Promise<unknown> = Promise.resolve();

  constructor(rawBlocks: RawBlocks) {
    this.rawBlocks = rawBlocks;
  }

  /** Blocks and places where a transaction may be, to be looked at; null where the chain is too large to be read through. */
  async candidates(pool: pg.Pool, txid: Uint8Array): Promise<TransactionPlace[] | null> {
    const work = this.working.then(() => this.search(pool, txid));
    this.working = work.catch(() => undefined);
    return work;
  }

  private async search(pool: pg.Pool, txid: Uint8Array): Promise<TransactionPlace[] | null> {
    const blocks = await blocksOf(pool, bytesMax);
    if (blocks === null) return null;
    const wanted = beginning(txid);
    const places: TransactionPlace[] = [];
    for (const { height, hash } of blocks) {
      const beginnings = await this.beginningsOf(height, hash);
      if (beginnings === null) return null;
      for (let index = beginnings.indexOf(wanted); index >= 0; index = beginnings.indexOf(wanted, index + 1))
        places.push({ height, blockHash: hash, index });
    }
    return places;
  }

  private async beginningsOf(height: number, hash: Uint8Array): Promise<Uint32Array | null> {
    const name = Buffer.from(hash).toString('hex');
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const block = await this.rawBlocks.read({ height, hash });
    if (block === null) return null;
    const reader = new TransactionReader(block.bytes);
    const beginnings = Uint32Array.from({ length: reader.blockTransactions() }, () =>
      beginning(txidOf(reader.transaction())),
    );
    this.known.set(name, beginnings);
    return beginnings;
  }
}

function beginning(txid: Uint8Array): number {
  return Buffer.from(txid.buffer, txid.byteOffset, txid.byteLength).readUInt32LE();
}

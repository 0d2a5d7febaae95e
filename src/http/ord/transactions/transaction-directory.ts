import type pg from 'pg';
import { blocksOf } from '#chain/blocks/header.queries.ts';
import type { TransactionPlace } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import { limits } from '#http/server/limits.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/**
 * Limits of a chain that is searched without a node. The first request reads and hashes at most `bytes`, in some
 * seconds. Every request walks over at most `blocks`, in milliseconds. A larger chain needs a node.
 */
const max = { bytes: 256 * 1024 * 1024, blocks: 20_000 };
/** Maximum number of waiting requests. It is enough for all requests that are being answered. */
const waitingMax = limits.requests;
/** How long a request waits for a search at most, in ms. A request waits equally long for its own turn. */
const waitMs = 30_000;

/**
 * Finds the transactions of a small chain, for servers without a node. The first request reads the blocks. The first 4
 * bytes of all txids are then kept in memory.
 */
export class TransactionDirectory {
  readonly #rawBlocks: RawBlocks;
  /** First four bytes of a block's txids, by the block's hash in hex. */
  readonly #known = new Map<string, Uint32Array>();
  /** The blocks of the chain at a tip. `blocks` is null if the chain has too many blocks. */
  #listed: { readonly tip: Tip; readonly blocks: readonly BlockRef[] | null } | null = null;
  /** Runs one search at a time. The first search reads the blocks, and later searches use the result of that read. */
  readonly #gate = new FairGate({
    running: 1,
    waiting: waitingMax,
    waitMs,
    refusal: () => new AppError('overloaded', 'the blocks are being read; try again in a few seconds'),
  });

  constructor(rawBlocks: RawBlocks) {
    this.#rawBlocks = rawBlocks;
  }

  /**
   * Blocks and positions that may contain a transaction; the caller checks them. `null` if the chain is too large to
   * read.
   */
  async candidates(pool: pg.Pool, txid: Txid, asker: Asker): Promise<TransactionPlace[] | null> {
    return this.#gate.run(asker, () => this.#search(pool, txid, asker));
  }

  async #search(pool: pg.Pool, txid: Txid, asker: Asker): Promise<TransactionPlace[] | null> {
    const blocks = await this.#blocks(pool, asker.signal);
    if (blocks === null) return null;
    const wanted = beginning(txid);
    const places: TransactionPlace[] = [];
    for (const { height, hash } of blocks) {
      const beginnings = await this.#beginningsOf(height, hash, asker);
      if (beginnings === null) return null;
      for (let index = beginnings.indexOf(wanted); index >= 0; index = beginnings.indexOf(wanted, index + 1))
        places.push({ height, blockHash: hash, index });
    }
    return places;
  }

  async #blocks(pool: pg.Pool, signal: AbortSignal): Promise<readonly BlockRef[] | null> {
    return withSnapshot(
      pool,
      async ({ client, tip }) => {
        if (tip === null) return null;
        const listed = this.#listed;
        if (listed?.tip.undoEpoch === tip.undoEpoch && Buffer.compare(listed.tip.hash, tip.hash) === 0)
          return listed.blocks;
        const blocks = await blocksOf(client, max);
        this.#listed = { tip, blocks };
        return blocks;
      },
      signal,
    );
  }

  async #beginningsOf(height: Height, hash: BlockHash, asker: Asker): Promise<Uint32Array | null> {
    const name = Buffer.from(hash).toString('hex');
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    // the next client reuses blocks that were read for a client that disconnected
    const block = await this.#rawBlocks.read({ height, hash }, asker);
    if (block === null) return null;
    const transactions = RawTransactions.ofBlock(block.bytes);
    const beginnings = Uint32Array.from({ length: transactions.count }, (_, place) =>
      beginning(transactions.txid(place)),
    );
    this.#known.set(name, beginnings);
    return beginnings;
  }
}

function beginning(txid: Txid): number {
  return Buffer.from(txid.buffer, txid.byteOffset, txid.byteLength).readUInt32LE();
}

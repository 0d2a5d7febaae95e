import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { type ChainFacts, endBatch } from '#indexer/apply/fill-batch.ts';
import { DerivedBatch } from '#indexer/derived/derived-batch.ts';
import type { DerivedBlock, DerivedTable } from '#indexer/derived/derived-table.ts';
import { InscriptionIds, type RevealPlace } from '#indexer/derived/sales/inscription-ids.ts';
import { sales } from '#indexer/derived/sales/sales.ts';
import { classifyMoves } from '#indexer/ledger/sales/classify-moves.ts';
import { tradingTransactions } from '#indexer/ledger/sales/find-moves.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import { transactionId } from '#indexer/transaction/transaction-id.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import type { ParseThreads } from '#indexer/workers/parse-threads.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { Refusal } from '#kernel/sales/refusals.ts';
import type { MoveClass } from '#kernel/sales/sale-names.ts';
import { recomputeBlock } from './recompute-block.ts';

/** A move of an inscription, by the rules of this program. */
export interface ExplainedMove extends RevealPlace {
  readonly input: number;
  readonly class: MoveClass;
  /** The rule that refuses the sale. Null: the inscription was sold. */
  readonly refusedBy: Refusal | null;
}

export interface ExplainOptions {
  readonly source: BlockSource;
  readonly fingerprintKey: Uint8Array;
  /** An indexed block that the source has. */
  readonly ref: BlockRef;
  readonly txid: Txid;
  readonly signal: AbortSignal;
  /** Number of worker threads to start, or existing threads that other work uses, too. Absent: one thread. */
  readonly threads?: number | ParseThreads;
}

/**
 * Classifies the moves of a transaction of an indexed block again. Only reads. Returns null if the block does not have
 * the transaction, or the source does not know the spent outputs of the block. Throws the errors of the source.
 *
 * @param client connection in a snapshot that has the block
 */
export async function explainMoves(
  client: pg.ClientBase,
  options: ExplainOptions,
): Promise<readonly ExplainedMove[] | null> {
  const { source, fingerprintKey, ref, txid, signal, threads = 1 } = options;
  const facts: ChainFacts = {
    network: networks[source.network],
    eventKinds: [],
    islands: await source.islands(),
    fingerprintKey: expandFingerprintKey(fingerprintKey),
    readBlock: blockReader(source, signal),
  };
  let found: readonly ExplainedMove[] | null = null;
  const table = explaining((block) => {
    found = movesOf(block, txid);
  });
  const parsePool = createParsePool(createBufferPool(), { blocks: 1, facts: new Set(table.facts), threads });
  try {
    for await (const block of parsePool.blocks(source, [ref], fingerprintKey, signal)) {
      const derived = new DerivedBatch([{ table, fromHeight: ref.height }], facts, null);
      const { batch } = await recomputeBlock(client, block, facts, derived);
      endBatch(batch);
      block.release();
    }
  } finally {
    await parsePool.close();
  }
  return found;
}

/** The table of sales. Instead of writing rows, it passes each block to `add`. */
const explaining = (add: (block: DerivedBlock) => void): DerivedTable => ({
  ...sales,
  begin: () => ({ add }),
});

function movesOf({ block, ledger, held }: DerivedBlock, txid: Txid): readonly ExplainedMove[] | null {
  const { bytes, columns, facts } = block;
  const { spentScripts: spent, signatures } = facts;
  assert(spent !== undefined && signatures !== undefined, 'the spent scripts of a block were not read');
  const tx = placeOf(block, txid);
  if (tx === null || spent === null) return null;
  const ids = new InscriptionIds({ columns, ledger, held });
  const [trade] = tradingTransactions({ bytes, columns, ledger, held, spent, signatures }, tx);
  if (trade === undefined) return [];
  return classifyMoves(trade).map(({ move, class: of, refusedBy }) => ({
    ...ids.of(move.key),
    input: move.input,
    class: of,
    refusedBy,
  }));
}

/** The index of a transaction in its block. Null: not in the block. */
function placeOf({ bytes, columns }: DerivedBlock['block'], txid: Txid): number | null {
  const { txStart, txOutputs } = columns;
  for (let tx = 0; tx < txOutputs.length; tx++) {
    const id = transactionId(bytes, txStart[tx]!, txOutputs[tx]!, txStart[tx + 1]!);
    if (Buffer.compare(id, txid) === 0) return tx;
  }
  return null;
}

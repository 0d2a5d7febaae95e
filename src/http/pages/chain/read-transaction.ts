import { blockAt } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { nodeHeader, nodePositionIn, nodeSpentIn } from '#http/ord/sources/node-questions.ts';
import type { RawBlock } from '#http/ord/sources/raw-blocks.ts';
import { isGenesisCoinbase } from '#http/ord/transactions/transactions.ts';
import { SpentReader } from '#indexer/parse/spent-outputs.ts';
import { valueLength } from '#indexer/transaction/block-layout.ts';
import { compactSizeLength } from '#indexer/transaction/compact-size.ts';
import {
  type RawOutput,
  type RawTransaction,
  RawTransactions,
} from '#indexer/transaction/raw-transaction.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { trustedSats } from '#kernel/primitives/sats.ts';
import { type ChainSources, toldOrNull, toldOrWhy } from './chain-sources.ts';

/** The block that has a transaction. */
export interface BlockOfTransaction {
  readonly height: Height;
  readonly hash: BlockHash;
  /** Time of the block's header, in Unix seconds. */
  readonly time: number;
  /** `false` if only the node has the block, because it is below or above the indexed blocks. */
  readonly isIndexed: boolean;
}

/** A transaction, with all data that the blocks and the node have about it. */
export interface ReadTransaction {
  readonly txid: Txid;
  /** `null` if the transaction's bytes are unavailable here. */
  readonly transaction: RawTransaction | null;
  /** The reason why the bytes are missing. `null` if they are not missing. */
  readonly why: string | null;
  /** `null` if the transaction is in no block, or in no known block. */
  readonly block: BlockOfTransaction | null;
  /** Position in the block. `null` if unknown. */
  readonly index: number | null;
  /** The outputs that the transaction spends, by input. `null` if unknown. An empty script is unknown, too. */
  readonly spent: readonly RawOutput[] | null;
}

/** Number of transactions that are hashed in one turn of the event loop. They take a millisecond or two. */
const hashesATurn = 500;

/**
 * Reads a transaction, its block and the outputs that it spends. If data of blocks or of the node is missing, the
 * fields of this data are null. All other errors are thrown.
 */
export async function readTransaction(
  sources: ChainSources,
  txid: Txid,
  asker: Asker,
): Promise<ReadTransaction> {
  const { transactions } = sources;
  const { tip, places } = await transactions.places([{ txid, vouts: [] }], asker, { withRunes: true });
  const place = places[0] ?? null;
  const found = await toldOrWhy(transactions.findAt(txid, { tip, place }, asker));
  const bytes =
    'told' in found
      ? { transaction: found.told.transaction, hash: found.told.blockHash, why: null }
      : { transaction: null, hash: place?.blockHash ?? null, why: found.why.message };
  const block = bytes.hash === null ? null : await blockOf(sources, bytes.hash, asker);
  const told = place?.index ?? null;
  const asked = { txid, told };
  const parts =
    block === null
      ? null
      : ((await partsByNode(sources, block, asked, asker)) ??
        (await partsInBlock(sources, block, asked, asker)));
  const { transaction, why } = bytes;
  return { txid, transaction, why, block, ...(parts ?? { index: told, spent: null }) };
}

/** A transaction of a known block, and its position there if the index knows the position. */
interface AskedPlace {
  readonly txid: Txid;
  readonly told: number | null;
}

type PartsInBlock = Pick<ReadTransaction, 'index' | 'spent'>;

/**
 * Asks the node only about the transaction, because reading a whole block takes four times as long. `null` if the node
 * cannot answer.
 */
async function partsByNode(
  { node }: ChainSources,
  { hash }: BlockOfTransaction,
  { txid, told }: AskedPlace,
  asker: Asker,
): Promise<PartsInBlock | null> {
  if (node === null || isGenesisCoinbase(txid)) return null;
  const calls = node.of(asker);
  const [spent, index] = await Promise.all([
    toldOrNull(nodeSpentIn(calls, txid, hash)),
    told ?? toldOrNull(nodePositionIn(calls, txid, hash)),
  ]);
  return spent === null || index === null ? null : { index, spent };
}

/** The transaction from its block. `null` if the bytes of the block are unavailable here. */
async function partsInBlock(
  { rawBlocks }: ChainSources,
  block: BlockOfTransaction,
  { txid, told }: AskedPlace,
  asker: Asker,
): Promise<PartsInBlock | null> {
  const raw = await toldOrNull(rawBlocks.read(block, asker));
  return raw === null ? null : partsIn(raw, txid, told, asker);
}

async function blockOf(
  { deps: { pool }, node }: ChainSources,
  hash: BlockHash,
  asker: Asker,
): Promise<BlockOfTransaction | null> {
  const indexed = await withSnapshot(
    pool,
    ({ client }) => blockAt(client, { kind: 'hash', hash }),
    asker.signal,
  );
  if (indexed !== null) return { height: indexed.height, hash, time: indexed.time, isIndexed: true };
  if (node === null) return null;
  const header = await toldOrNull(nodeHeader(node.of(asker), displayHash(hash)));
  return header === null ? null : { height: header.height, hash, time: header.time, isIndexed: false };
}

/**
 * The position of a transaction in a block, and the outputs that the transaction spends. `null` if the block does not
 * contain the transaction.
 */
async function partsIn(
  { bytes, spentOutputs }: RawBlock,
  txid: Txid,
  told: number | null,
  asker: Asker,
): Promise<{ index: number; spent: RawOutput[] | null } | null> {
  const transactions = RawTransactions.ofBlock(bytes);
  const isAt = (place: number): boolean => Buffer.compare(transactions.txid(place), txid) === 0;
  let index = told !== null && told < transactions.count && isAt(told) ? told : -1;
  for (let place = 0; index === -1 && place < transactions.count; place++) {
    if (place % hashesATurn === hashesATurn - 1) await nextTurn(asker.client);
    if (isAt(place)) index = place;
  }
  if (index === -1) return null;
  return { index, spent: spentOutputs === null ? null : spentIn(spentOutputs, index) };
}

/** The outputs that the transaction at a position spends. Throws `spent_outputs_mismatch`. */
export function spentIn(spentOutputs: Uint8Array, index: number): RawOutput[] {
  const reader = new SpentReader(spentOutputs);
  const count = reader.compactSize();
  const spent: RawOutput[] = [];
  for (let place = 0; place <= index && place < count && !reader.isBroken; place++) {
    for (let left = reader.compactSize(); left > 0 && !reader.isBroken; left--) {
      const from = reader.at + valueLength;
      const value = reader.output();
      if (place !== index || reader.isBroken) continue;
      const start = from + compactSizeLength(spentOutputs[from] ?? 0);
      spent.push({ value: trustedSats(value), script: spentOutputs.subarray(start, reader.at) });
    }
  }
  if (reader.isBroken || index >= count)
    throw new AppError('spent_outputs_mismatch', 'the spent outputs do not match the block');
  return spent;
}

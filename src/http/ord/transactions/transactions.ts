import { strict as assert } from 'node:assert';
import {
  type AskedTransaction,
  fingerprintKey,
  type Outpoint,
  type TransactionPlace,
  transactionPlaces,
} from '#chain/outputs/output.queries.ts';
import { canProbeRunes } from '#chain/outputs/runic-output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeBlock, nodeTransaction, nodeTransactionIn } from '#http/ord/sources/node-questions.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash, parseBlockHash, type Txid } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { TransactionDirectory } from './transaction-directory.ts';

/** The coinbases of the first blocks. A node does not return these transactions by their txids. */
const genesisTxids: ReadonlySet<string> = new Set([
  '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  // the coinbase of testnet4
  '7aa0a7ae1e223414cb807e40cd57e667b718e42aaf9306db9102fe28912b7b4e',
]);

export function isGenesisCoinbase(txid: Txid): boolean {
  return genesisTxids.has(displayHash(txid));
}

/**
 * How many of a transaction's first outputs are checked for inscriptions. An inscription leads to the transaction's
 * block. Each check is one index probe.
 */
const probedOutputs = 64;

/** Blocks and positions of transactions that the index knows, at one tip. */
export interface ToldPlaces {
  readonly tip: Tip | null;
  /** Blocks and positions in the order of the query. `null` if unknown. */
  readonly places: readonly (TransactionPlace | null)[];
}

export interface FoundTransaction {
  readonly tip: Tip | null;
  readonly transaction: RawTransaction;
  /**
   * Counted from the tip of the index if the index has the transaction, else from the node's tip. 0 if the transaction
   * is unconfirmed.
   */
  readonly confirmations: number;
  /** The block with the transaction. `null` if the transaction is unconfirmed. */
  readonly blockHash: BlockHash | null;
}

/** Finds transactions: by the inscriptions and sats in their outputs, in the blocks of the index, or at the node. */
export class Transactions {
  readonly #deps: AppDependencies;
  readonly #node: NodeCalls | null;
  readonly #rawBlocks: RawBlocks;
  readonly #directory: TransactionDirectory;

  constructor(deps: AppDependencies, node: NodeCalls | null, rawBlocks: RawBlocks) {
    this.#deps = deps;
    this.#node = node;
    this.#rawBlocks = rawBlocks;
    this.#directory = new TransactionDirectory(rawBlocks);
  }

  /** Finds a transaction. Throws `not_found`, and `no_node` if only a node has the answer. */
  async find(txid: Txid, asker: Asker): Promise<FoundTransaction> {
    const { tip, places } = await this.places([{ txid, vouts: [] }], asker, { withRunes: true });
    return this.findAt(txid, { tip, place: places[0] ?? null }, asker);
  }

  /**
   * Finds the blocks and positions of transactions that the index knows. This uses one connection; ten transactions
   * take a millisecond. The index finds a block by the inscriptions in the transaction's first outputs and in the
   * outputs `vouts`. With `withRunes`, it also finds blocks by the runes in these outputs, and takes one and a half
   * times as long.
   */
  async places(
    asked: readonly Pick<AskedTransaction, 'txid' | 'vouts'>[],
    { signal }: Asker,
    { withRunes = false } = {},
  ): Promise<ToldPlaces> {
    return withSnapshot(
      this.#deps.pool,
      async ({ client, tip }) => {
        const key = await fingerprintKey(client);
        const probed = asked.map(({ txid, vouts: given }): AskedTransaction => {
          const vouts = [...new Set([...given, ...Array.from({ length: probedOutputs }, (_, vout) => vout)])];
          const outpoints = vouts.map((vout): Outpoint => ({ txid, vout }));
          return { txid, vouts, fingerprints: key === null ? [] : fingerprintsOf(key, outpoints) };
        });
        const told = await transactionPlaces(client, probed, withRunes && (await canProbeRunes(client)));
        return { tip, places: asked.map((_, index) => told.get(index) ?? null) };
      },
      signal,
    );
  }

  /** Finds a transaction like `find`, if its block and position are already known from the index. */
  async findAt(
    txid: Txid,
    { tip, place }: { readonly tip: Tip | null; readonly place: TransactionPlace | null },
    asker: Asker,
  ): Promise<FoundTransaction> {
    const node = this.#node?.of(asker) ?? null;
    const known = isGenesisCoinbase(txid) ? this.#genesisPlace() : place;
    const transaction = known === null ? null : await this.#inBlock(txid, known, node, asker);
    if (transaction !== null && known !== null && tip !== null)
      return {
        tip,
        transaction,
        confirmations: tip.height - known.height + 1,
        blockHash: known.blockHash,
      };
    const name = `transaction ${displayHash(txid)}`;
    if (node === null) return this.#inSmallChain(txid, { tip, place: known }, name, asker);
    const found = await nodeTransaction(node, txid);
    if (found === null) throw new AppError('not_found', `${name} not found`);
    return { tip, ...found };
  }

  /** Searches the chain without a node, if the chain is small enough to read. */
  async #inSmallChain(
    txid: Txid,
    { tip, place: known }: { readonly tip: Tip | null; readonly place: TransactionPlace | null },
    name: string,
    asker: Asker,
  ): Promise<FoundTransaction> {
    const places = await this.#directory.candidates(this.#deps.pool, txid, asker);
    if (places === null || tip === null) {
      const missing =
        known === null
          ? `no inscription or rune in its outputs leads to ${name}`
          : `the bytes of block ${known.height}, which contains ${name}, are missing here`;
      throw new AppError('no_node', `${missing}, and this server has no node`);
    }
    for (const place of places) {
      const transaction = await this.#inBlock(txid, place, null, asker);
      if (transaction !== null) {
        const confirmations = Math.max(tip.height - place.height + 1, 1);
        return { tip, transaction, confirmations, blockHash: place.blockHash };
      }
    }
    throw new AppError('not_found', `${name} not found`);
  }

  #genesisPlace(): TransactionPlace {
    const hash = parseBlockHash(this.#deps.network.genesisHash);
    assert(hash !== null, 'networks name their block 0');
    return { height: genesisHeight, blockHash: hash, index: 0 };
  }

  /** A transaction of a known block. A node returns the transaction alone. Without a node, the block is read. */
  async #inBlock(
    txid: Txid,
    place: TransactionPlace,
    node: NodeRpc | null,
    asker: Asker,
  ): Promise<RawTransaction | null> {
    if (node !== null && !isGenesisCoinbase(txid)) {
      const found = await nodeTransactionIn(node, txid, place.blockHash);
      if (found !== null) return found;
    }
    const block = await this.#rawBlocks.read({ height: place.height, hash: place.blockHash }, asker);
    const bytes =
      block?.bytes ?? (node === null ? null : await nodeBlock(node, displayHash(place.blockHash)));
    return bytes === null ? null : transactionIn(bytes, txid, place.index);
  }
}

function transactionIn(block: Uint8Array, txid: Txid, index: number | null): RawTransaction | null {
  const transactions = RawTransactions.ofBlock(block);
  const isHere = (place: number): boolean => Buffer.compare(transactions.txid(place), txid) === 0;
  // if the position is known, the other transactions need not be hashed
  if (index !== null) return index < transactions.count && isHere(index) ? transactions.at(index) : null;
  for (let place = 0; place < transactions.count; place++) if (isHere(place)) return transactions.at(place);
  return null;
}

import { strict as assert } from 'node:assert';
import {
  fingerprintKey,
  type Outpoint,
  type TransactionPlace,
  transactionPlace,
} from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { RawBlocks } from '#http/ord/blocks/raw-blocks.ts';
import { nodeBlock, nodeTransaction } from '#http/ord/node-questions.ts';
import type { AppDependencies } from '#http/server/app-dependencies.ts';
import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, parseBlockHash, type Txid } from '#kernel/primitives/hash.ts';
import { genesisHeight } from '#kernel/primitives/height.ts';
import { fingerprintsOf } from './outpoint-candidates.ts';
import { TransactionDirectory } from './transaction-directory.ts';

/** The coinbase of block 0, which a node does not give by its txid. */
const genesisTxids: ReadonlySet<string> = new Set([
  '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  // testnet4
  '7aa0a7ae1e223414cb807e40cd57e667b718e42aaf9306db9102fe28912b7b4e',
]);

export function isGenesisCoinbase(txid: Txid): boolean {
  return genesisTxids.has(displayHash(txid));
}

/**
 * How many of a transaction's first outputs are checked for inscriptions, which reveal its block: an index probe
 * each.
 */
const probedOutputs = 64;

export interface FoundTransaction {
  readonly tip: Tip | null;
  readonly transaction: RawTransaction;
  /** As of our tip where our index has the transaction, else as of the node's; 0: unconfirmed. */
  readonly confirmations: number;
}

/** Finds transactions: by the inscriptions in them, in the blocks of the index, else at the node. */
export class Transactions {
  readonly #deps: AppDependencies;
  readonly #rawBlocks: RawBlocks;
  readonly #directory: TransactionDirectory;

  constructor(deps: AppDependencies, rawBlocks: RawBlocks) {
    this.#deps = deps;
    this.#rawBlocks = rawBlocks;
    this.#directory = new TransactionDirectory(rawBlocks);
  }

  /** Throws `not_found`, and `no_node` where only a node has the answer. */
  async find(txid: Txid): Promise<FoundTransaction> {
    const { tip, place } = await withSnapshot(this.#deps.pool, async ({ client, tip: now }) => {
      const key = await fingerprintKey(client);
      const outpoints = Array.from({ length: probedOutputs }, (_, vout): Outpoint => ({ txid, vout }));
      const fingerprints = key === null ? [] : fingerprintsOf(key, outpoints);
      return { tip: now, place: await transactionPlace(client, txid, fingerprints) };
    });
    const known = isGenesisCoinbase(txid) ? this.#genesisPlace() : place;
    const transaction = known === null ? null : await this.#inBlock(txid, known);
    if (transaction !== null && known !== null && tip !== null)
      return { tip, transaction, confirmations: tip.height - known.height + 1 };
    const { node } = this.#deps;
    const name = `transaction ${displayHash(txid)}`;
    if (node == null) return this.#inSmallChain(txid, tip, name);
    const found = await nodeTransaction(node, txid, null);
    if (found === null) throw new AppError('not_found', `${name} not found`);
    return { tip, ...found };
  }

  /** Without a node, a small enough chain is read through. */
  async #inSmallChain(txid: Txid, tip: Tip | null, name: string): Promise<FoundTransaction> {
    const places = await this.#directory.candidates(this.#deps.pool, txid);
    if (places === null || tip === null)
      throw new AppError('no_node', `no inscription leads to ${name}, and there is no node to ask`);
    for (const place of places) {
      const transaction = await this.#inBlock(txid, place);
      if (transaction !== null)
        return { tip, transaction, confirmations: Math.max(tip.height - place.height + 1, 1) };
    }
    throw new AppError('not_found', `${name} not found`);
  }

  #genesisPlace(): TransactionPlace {
    const hash = parseBlockHash(this.#deps.network.genesisHash);
    assert(hash !== null, 'networks name their block 0');
    return { height: genesisHeight, blockHash: hash, index: 0 };
  }

  /** A transaction of a known block: alone from the node where there is one, else out of the block. */
  async #inBlock(txid: Txid, place: TransactionPlace): Promise<RawTransaction | null> {
    const { node } = this.#deps;
    if (node != null && !isGenesisCoinbase(txid)) {
      const found = await nodeTransaction(node, txid, place.blockHash);
      if (found !== null) return found.transaction;
    }
    const block = await this.#rawBlocks.read({ height: place.height, hash: place.blockHash });
    const bytes = block?.bytes ?? (node == null ? null : await nodeBlock(node, displayHash(place.blockHash)));
    return bytes === null ? null : transactionIn(bytes, txid, place.index);
  }
}

function transactionIn(block: Uint8Array, txid: Txid, index: number | null): RawTransaction | null {
  const transactions = RawTransactions.ofBlock(block);
  const isHere = (place: number): boolean => Buffer.compare(transactions.txid(place), txid) === 0;
  // a known position saves hashing the other transactions
  if (index !== null) return index < transactions.count && isHere(index) ? transactions.at(index) : null;
  for (let place = 0; place < transactions.count; place++) if (isHere(place)) return transactions.at(place);
  return null;
}

import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain, PastTransaction, PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { NodePast } from '#sat-ranges/node-past.ts';
import { type BlockWithSpends, pastTransactions } from '#sat-ranges/past-transactions.ts';
import type { FeePayer, Missing, TracedTransaction } from '#sat-ranges/trace-source.ts';
import type { FedBlock } from '#test/support/chain/runes/rune-store.ts';

/** The past of a branch of made blocks, as a node with these blocks returns it. */
export class PastOfBlocks implements PastChain {
  /** Number of requests so far, for transactions and for lists of fees. */
  steps = 0;
  /** Height below which transactions are missing; 0 if none are missing. */
  prunedBelow = 0;
  readonly #blocks = new Map<number, BlockWithSpends>();
  readonly #transactions = new Map<string, PastTransaction>();
  readonly #fees = new Map<number, FeePayer[]>();
  readonly #past: NodePast;

  constructor(branch: readonly FedBlock[]) {
    const made = new Map<string, number>();
    for (const { height, bytes, spent } of branch) {
      if (spent === null) throw new Error('a block needs what it spends');
      const block = { bytes, spentOutputs: spent, spentHeights: heightsOf(bytes, made, height) };
      this.#blocks.set(height, block);
      this.#enter(height, pastTransactions(block));
    }
    this.#past = new NodePast({
      source: this,
      retry: { run: (work) => work(1) },
      readBlock: (ref) => Promise.resolve(this.#block(ref)),
    });
  }

  #enter(height: number, transactions: readonly PastTransaction[]): void {
    const payers: FeePayer[] = [];
    for (const transaction of transactions) {
      const { txid, inputs, outputs } = transaction;
      this.#transactions.set(`${height} ${txid}`, transaction);
      if (inputs === null) continue;
      const outputsTotal = outputs.reduce((sum, value) => sum + value, 0);
      const fee = inputs.reduce((sum, { value }) => sum + value, 0) - outputsTotal;
      if (fee > 0) payers.push({ txid, outputsTotal, fee });
    }
    this.#fees.set(height, payers);
  }

  #block({ height }: BlockRef): BlockWithSpends {
    const block = this.#blocks.get(height);
    if (block === undefined || height < this.prunedBelow)
      throw new AppError('block_unavailable', `Block ${height} is missing.`);
    return block;
  }

  transaction(txid: TxidHex, height: Height): Promise<TracedTransaction | Missing> {
    this.steps++;
    const found = this.#transactions.get(`${height} ${txid}`);
    if (found === undefined) throw new Error(`there is no ${txid} at ${height}`);
    return Promise.resolve(height < this.prunedBelow ? { missing: `block ${height} is gone` } : found);
  }

  feePayers(height: Height): Promise<readonly FeePayer[] | Missing> {
    this.steps++;
    return Promise.resolve(this.#fees.get(height) ?? { missing: `block ${height} is gone` });
  }

  transactions(ref: BlockRef, signal?: AbortSignal): Promise<readonly PastTransaction[]> {
    return this.#past.transactions(ref, signal);
  }

  cuts(places: readonly PlaceInOutput[], signal?: AbortSignal): Promise<readonly boolean[]> {
    return this.#past.cuts(places, signal);
  }
}

/**
 * Heights at which the outputs that a block spends were made, in order of the inputs. Adds the outputs of the block to
 * `made`.
 */
function heightsOf(bytes: Uint8Array, made: Map<string, number>, height: number): Uint32Array {
  const transactions = RawTransactions.ofBlock(bytes);
  const heights: number[] = [];
  // the coinbase comes last, because an output of its twin may be spent before
  const places = Array.from({ length: transactions.count }, (_, place) => place);
  for (const place of [...places.slice(1), 0]) {
    const { txid, inputs, outputs } = transactions.at(place);
    if (place > 0)
      for (const { previousTxid, previousVout } of inputs)
        heights.push(made.get(`${displayHash(previousTxid)}:${previousVout}`) ?? -1);
    for (const vout of outputs.keys()) made.set(`${displayHash(txid)}:${vout}`, height);
  }
  return Uint32Array.from(heights);
}

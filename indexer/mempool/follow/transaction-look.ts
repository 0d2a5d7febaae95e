import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { TransactionBatch } from '#indexer/mempool/stream/transaction-batch.ts';
import { searchableBytesMaxDefault } from '#indexer/parse/parse-block.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { HashKey } from '../stream/membership.ts';
import type { MessageQueue } from '../stream/message-queue.ts';
import type { NodeMempool } from '../stream/node-mempool.ts';
import { analyse, type RunesToCome } from './find-pending.ts';
import type { PendingSet } from './pending-set.ts';

/** Maximum number of transactions per round, so that rounds stay short. */
const transactionsAtOnce = 5000;
/**
 * Maximum number of transactions, and of their bytes, parsed and processed in one go. This takes some ten milliseconds,
 * during which no request is answered. A longer transaction is processed alone.
 */
const goTransactionsMax = 250;
const goBytesMax = 400_000;

export interface LookOptions {
  readonly pool: pg.Pool;
  readonly node: NodeMempool;
  /** Null: all bytes are requested from the node. */
  readonly queue: MessageQueue | null;
  readonly log: Logger;
  readonly fingerprintKey: Uint8Array;
}

/** The conditions of the next block, in which transactions could be mined. */
export interface LookMoment {
  /** Null: runes are unknown. */
  readonly runes: RunesToCome | null;
  readonly knowsSales: boolean;
}

/** A block, its bytes and its spent outputs. */
export interface LookedBlock {
  readonly ref: BlockRef;
  readonly bytes: Uint8Array;
  /** Spent outputs in the encoding of `SourceBlock.spentOutputs`. Null: unknown. */
  readonly spent: Uint8Array | null;
}

interface Taken {
  readonly txid: HashKey;
  readonly bytes: Uint8Array;
}

/** Reads the bytes of transactions, and keeps the transactions that matter. */
export class TransactionLook {
  readonly #options: LookOptions;
  readonly #pending: PendingSet;

  constructor(pending: PendingSet, options: LookOptions) {
    this.#pending = pending;
    this.#options = options;
  }

  /** Processes the transactions of a block, except its coinbase. */
  async atBlock({ ref, bytes, spent }: LookedBlock, moment: LookMoment): Promise<void> {
    const { fingerprintKey } = this.#options;
    const batch = TransactionBatch.ofBlock(bytes, spent, fingerprintKey, searchableBytesMaxDefault);
    if (batch !== null) await this.#at(batch, ref, moment);
  }

  /**
   * Processes as many waiting transactions as fit in a round, and returns their ids. If `isHurried`, bytes are
   * requested at once.
   */
  async atWaiting(isHurried: boolean, moment: LookMoment): Promise<readonly HashKey[]> {
    const { queue, node } = this.#options;
    const taken = await this.#pending.waiting.take(queue, node, { countMax: transactionsAtOnce, isHurried });
    for (const go of goesOf(taken)) {
      await this.#atTogether(go, moment);
      await nextTurn();
    }
    return taken.map(({ txid }) => txid);
  }

  async #atTogether(taken: readonly Taken[], moment: LookMoment): Promise<void> {
    const { fingerprintKey, log } = this.#options;
    const bytes = taken.map((one) => one.bytes);
    const batch = TransactionBatch.of(bytes, fingerprintKey, searchableBytesMaxDefault);
    if (batch !== null) {
      await this.#at(batch, null, moment);
      return;
    }
    // one transaction is broken, so process each alone and skip the broken one
    if (taken.length > 1) for (const one of taken) await this.#atTogether([one], moment);
    else log.warn('the node returned a transaction that cannot be read');
  }

  async #at(batch: TransactionBatch, block: BlockRef | null, moment: LookMoment): Promise<void> {
    const { pool, node, fingerprintKey } = this.#options;
    const { inputs, kept, nextPosition } = this.#pending;
    const key = expandFingerprintKey(fingerprintKey);
    const context = { pool, node, inputs, kept, fingerprintKey: key, ...moment, nextPosition };
    const transactions = Array.from({ length: batch.count - 1 }, (_, index) => index + 1);
    const found = await analyse(context, batch, transactions, block);
    const unknown = found.rows.filter(
      ({ transaction }) => transaction.entry === null && transaction.block === null,
    );
    this.#pending.enter(found, await node.entries(unknown.map(({ transaction }) => transaction.txid)));
  }
}

/** Groups transactions, in order, into portions that are processed in one go. A portion has at least one. */
export function* goesOf(taken: readonly Taken[]): Generator<readonly Taken[]> {
  for (let from = 0; from < taken.length; ) {
    let size = taken[from]?.bytes.length ?? 0;
    let to = from + 1;
    while (to < taken.length && to - from < goTransactionsMax) {
      size += taken[to]?.bytes.length ?? 0;
      if (size > goBytesMax) break;
      to++;
    }
    yield taken.slice(from, to);
    from = to;
  }
}

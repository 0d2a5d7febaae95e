import type pg from 'pg';
import { keepWorking } from '#kernel/pg/keep-working.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { lockOrder } from '#orders/order/order.store.ts';
import { wakeOrder } from '#orders/order/order-wishes.store.ts';
import { markSent, readSigned } from '#purse/transactions/wallet-transactions.store.ts';
import type { Miner, MinerAnswer } from './miner.ts';
import { type DuePackage, duePackages, noteAccepted, noteRefused, noteSilence } from './packages.store.ts';

export interface HandPackagesOptions {
  /** URL of the database, with the role that owns its tables. */
  readonly url: string;
  readonly miner: Miner;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** First pause after no reply, for tests only. */
  readonly firstPauseMs?: number;
}

/**
 * Maximum number of packages to send at the same time. Each package needs about 30 MB while it is sent, and a silent
 * miner takes a minute.
 */
const handedAtOnce = 2;
/** Maximum number of connections: one for each package, and one to search for more. */
const connectionsMax = handedAtOnce + 1;
const statementTimeoutMs = 15_000;
/** How often due packages are read, in ms. Each read uses one index, regardless of the number of orders. */
const pollMs = 500;
/**
 * Bounds of the pause after no reply, in ms. A restarted miner is asked again soon, and a miner that is away for hours
 * is asked rarely.
 */
const pauseMinMs = 2_000;
const pauseMaxMs = 600_000;

/**
 * Hands reveals above the standard weight to the miner, each with its commit, until the signal is aborted. The process
 * with the seed runs this in a separate loop with separate connections, so that a silent miner delays no other order.
 * Replies are stored, and wake the order. Throws errors that are not retried.
 */
export async function handPackages(options: HandPackagesOptions): Promise<void> {
  const { url, signal, log } = options;
  const pool = createPool(url, {
    applicationName: 'satscribe miner',
    max: connectionsMax,
    statementTimeoutMs,
    onError: (error) => log.debug({ err: error }, 'an idle connection was lost'),
  });
  const handing = new Handing(options, pool);
  try {
    await keepWorking({ signal, log, failing: 'transactions are not handed to the miner' }, () =>
      handing.work(),
    );
  } finally {
    await handing.ended();
    await pool.end();
  }
}

class Handing {
  readonly #options: HandPackagesOptions;
  readonly #pool: pg.Pool;
  /** Packages that are being sent. */
  readonly #tries = new Map<string, { readonly reveal: Txid; readonly ended: Promise<void> }>();
  /** Errors of packages, which the loop throws. */
  readonly #failures: unknown[] = [];

  constructor(options: HandPackagesOptions, pool: pg.Pool) {
    this.#options = options;
    this.#pool = pool;
  }

  async work(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      for (const failure of this.#failures.splice(0)) throw postgresFailure(failure);
      const underWay = [...this.#tries.values()].map(({ reveal }) => reveal);
      const free = handedAtOnce - underWay.length;
      const due = free === 0 ? [] : await duePackages(this.#pool, underWay, free);
      for (const each of due) {
        const id = displayHash(each.reveal);
        const ended = this.#hand(each)
          .catch((error: unknown) => {
            this.#failures.push(error);
          })
          .finally(() => this.#tries.delete(id));
        this.#tries.set(id, { reveal: each.reveal, ended });
      }
      await pause(pollMs, signal);
    }
  }

  /** Waits for packages that are being sent. Sending ends when the signal is aborted. */
  async ended(): Promise<void> {
    await Promise.all([...this.#tries.values()].map(({ ended }) => ended));
  }

  async #hand(due: DuePackage): Promise<void> {
    const { miner, signal } = this.#options;
    const answer = await this.#answer(miner, due, signal);
    if (answer === null) return;
    failpoint('package-handed');
    await this.#note(due, answer);
    failpoint('package-answered');
  }

  /** Hands a package to the miner, and returns the miner's reply. Returns null if this process is stopping. */
  async #answer(
    miner: Miner,
    { commit, reveal }: DuePackage,
    signal: AbortSignal,
  ): Promise<MinerAnswer | null> {
    const client = await this.#pool.connect();
    let transactions: readonly [Uint8Array, Uint8Array];
    try {
      transactions = [(await readSigned(client, commit)).bytes, (await readSigned(client, reveal)).bytes];
    } finally {
      client.release();
    }
    try {
      return await miner.hand({ reveal, transactions }, signal);
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }

  async #note({ orderId, reveal, tries, madeAt }: DuePackage, answer: MinerAnswer): Promise<void> {
    const { log, firstPauseMs = pauseMinMs } = this.#options;
    const fields = { order: orderId, reveal: displayHash(reveal), madeAt };
    if (answer.kind === 'silent') {
      const againInMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(tries, 20));
      await noteSilence(this.#pool, reveal, answer.why, againInMs);
      log.warn({ ...fields, why: answer.why, againInMs }, 'the miner gave no answer; it is asked again');
      return;
    }
    const isNoted = await withTransaction(this.#pool, async (tx) => {
      // the decision that the miner took too long also locks the order
      if ((await lockOrder(tx, orderId)) === null) return false;
      if (answer.kind === 'refused') return noteRefused(tx, reveal, answer.reason);
      const isAccepted = await noteAccepted(tx, reveal);
      // marked as sent, because the miner is treated like a node that has the reveal
      if (isAccepted) await markSent(tx, reveal, null);
      return isAccepted;
    });
    if (!isNoted)
      log.warn(fields, 'the miner answered too late, so its answer is ignored and only a block decides');
    else if (answer.kind === 'accepted') log.info(fields, 'the miner accepted a transaction');
    else log.warn({ ...fields, reason: answer.reason }, 'the miner refused a transaction');
    await wakeOrder(this.#pool, orderId);
  }
}

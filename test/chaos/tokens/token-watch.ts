import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { snapshot } from '#orders/audit/at-one-block.ts';
import type { RuneChain } from './rune-chain.ts';
import { takeLook } from './token-look.queries.ts';
import { areFollowed, chainFaults, heldFaults, ledgerFaults, type TokenLook } from './tokens-verdict.ts';

const lookEveryMs = 300;

interface TokenWatchParts {
  /** Opens a pool of the database. The pool is ended after each check, because the database may be restarted. */
  readonly open: () => pg.Pool;
  readonly model: RuneChain;
  /** Scripts of all charges in hex. */
  readonly charges: () => ReadonlySet<string>;
  /** Scripts of all addresses of requested withdrawals, in hex. */
  readonly receivers: () => ReadonlySet<string>;
  /** Receives each fault when it is found, and the present action of the run. */
  readonly say: (words: string) => void;
}

/** Checks the money of shops during a run. Each check uses one snapshot. */
export class TokenWatch {
  /**
   * Number of checks in which the database answered. `compared` counts the checks in which index and payments had the
   * same block.
   */
  looks = 0;
  compared = 0;
  /** Number of checks in which a credit was about to be deleted. */
  stale = 0;
  /**
   * Number of checks in which a withdrawal was reserved. `behind` counts the checks in which a withdrawal did not have
   * its state in blocks yet.
   */
  reserved = 0;
  behind = 0;
  readonly #parts: TokenWatchParts;
  readonly #found = new Set<string>();
  readonly #states = new Map<string, string[]>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(parts: TokenWatchParts) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  /** Faults in words, without repetitions. */
  get faults(): readonly string[] {
    return [...this.#found];
  }

  /** States of an order that the checks saw, in order. */
  statesOf(order: string): readonly string[] {
    return this.#states.get(order) ?? [];
  }

  /** Makes one more check. */
  async look(): Promise<void> {
    const pool = this.#parts.open();
    try {
      const taken = await withTransaction(pool, takeLook, snapshot);
      if (taken === null) return;
      const { block } = taken;
      const { model, charges, receivers } = this.#parts;
      const state = await model.stateAt(block);
      const { txids, own } = await model.serviceOf(block, charges(), receivers());
      const isFollowed = areFollowed(taken.look, txids);
      const look: TokenLook = { ...taken.look, isAtOneBlock: taken.look.isAtOneBlock && isFollowed };
      const faults = [...ledgerFaults(look), ...heldFaults(look, state), ...chainFaults(look, state, own)];
      for (const fault of faults) this.#add(fault);
      this.#count(look, isFollowed);
    } catch (thrown) {
      const error = postgresFailure(thrown);
      const isAway = error instanceof AppError && /^(?:postgres|node)_/u.test(error.code);
      if (!isAway) this.#add(`a look at the money of shops failed: ${String(thrown)}`);
    } finally {
      await pool.end();
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.look();
      await delay(lookEveryMs);
    }
  }

  #note(id: string, state: string): void {
    const states = this.#states.get(id) ?? [];
    this.#states.set(id, states);
    if (states.at(-1) !== state) states.push(state);
  }

  #count(look: TokenLook, isFollowed: boolean): void {
    for (const [id, seen] of look.states) this.#note(id, seen);
    for (const { id, state } of look.withdrawals) this.#noteWithdrawal(id, state);
    this.looks++;
    if (look.reserved.size > 0) this.reserved++;
    if (!isFollowed) this.behind++;
    if (look.isAtOneBlock) this.compared++;
    if (look.credits.some(({ isStale }) => isStale)) this.stale++;
  }

  #noteWithdrawal(id: string, state: string): void {
    if (this.statesOf(id).includes('error') && state !== 'error')
      this.#add(`the withdrawal ${id} is ${state} after its error`);
    this.#note(id, state);
  }

  #add(fault: string): void {
    if (!this.#found.has(fault)) this.#parts.say(fault);
    this.#found.add(fault);
  }
}

import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { seam } from '#kernel/process/failpoint.ts';
import { isPipelined, socketOf } from './pool.ts';

/**
 * Runs `fn` in a transaction and commits. Any error rolls back and is rethrown. If `target` is a pool, this function
 * takes a connection and returns it, or discards it if even the rollback fails. If `target` is a client, `fn` runs on
 * this client, which must not be in a transaction already.
 */
export async function withTransaction<T>(
  target: pg.Pool | pg.ClientBase,
  fn: (tx: pg.ClientBase) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  if (!isPool(target)) return runTransaction(target, fn, begin);
  const client = await target.connect();
  let broken: Error | undefined;
  try {
    return await runTransaction(client, fn, begin, (error) => {
      broken = error;
    });
  } finally {
    client.release(broken);
  }
}

/** Statements of a pipelined transaction that were sent, and whose answers may not have arrived yet. */
export interface SentStatements {
  /**
   * Statements whose answers are checked, or that send further statements. The commit is sent after all these
   * statements have succeeded.
   */
  readonly decisive: readonly Promise<unknown>[];
  /** Statements that only fail or succeed. If one of them fails, the server answers the commit with a rollback. */
  readonly rest: readonly Promise<unknown>[];
  /** Further such statements, sent last. Settles when all of them are sent. Absent: there are no such statements. */
  readonly later?: Promise<readonly Promise<unknown>[]>;
}

/** Transactions of one pipelined connection (pool.ts), one after another. */
export class PipelinedTransactions {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    assert(client.pipeline, 'the connection sends each statement at once');
    this.#client = client;
  }

  /**
   * Runs a transaction. `send` sends the statements without waiting for answers, so the server waits for this process
   * only before statements that follow later, and before the commit. Any error rolls back and is thrown. `send` must
   * not throw, because this function would not know which statements were already sent.
   *
   * @param isFollowed called when the commit is sent. True if another transaction follows at once: it begins together
   *   with the commit, which saves the server a wait for this process. If no other transaction follows, `end` must be
   *   called.
   */
  async run(
    send: (tx: pg.ClientBase) => SentStatements,
    isFollowed: () => boolean = () => false,
  ): Promise<void> {
    const client = this.#client;
    const sent: Promise<unknown>[] = [];
    try {
      // wait for the answer, because after a refused BEGIN each statement would commit by itself
      if (!this.#hasBegun) await client.query('BEGIN');
      await sendAll(send(client), sent);
      sent.push(client.query('COMMIT'));
      // this transaction does not depend on the next one. If BEGIN is refused, the next one tries again
      const next = isFollowed() ? client.query('BEGIN').catch(() => undefined) : null;
      const held = seam('commit');
      if (held !== null) sent.push(held);
      await allAnswers(sent);
      await next;
    } catch (error) {
      // no statement may follow the rollback, because it would commit by itself
      const cause = await allAnswers(sent).then(
        () => error,
        (failure: unknown) => failure,
      );
      await client.query('ROLLBACK').catch(() => undefined);
      throw cause;
    }
  }

  /** Ends a transaction that was begun for nothing. */
  async end(): Promise<void> {
    if (this.#hasBegun) await this.#client.query('ROLLBACK');
  }

  /** Whether the server is in a transaction that no statement has failed, as of its last answer. */
  get #hasBegun(): boolean {
    return this.#client.getTransactionStatus() === 'T';
  }
}

/**
 * Waits until the commit of these statements may be sent.
 *
 * @param sent receives all statements
 */
async function sendAll(
  { decisive, rest, later = Promise.resolve([]) }: SentStatements,
  sent: Promise<unknown>[],
): Promise<void> {
  let hasFailed = false;
  const follow = (statements: readonly Promise<unknown>[]): void => {
    sent.push(...statements);
    for (const statement of statements) {
      statement.catch(() => {
        hasFailed = true;
      });
    }
  };
  const allSent = later.then(follow);
  follow([...decisive, ...rest, allSent]);
  await Promise.all(decisive);
  await allSent;
  // a statement that could not be sent fails in this turn
  await nextTurn();
  // if a statement could not be sent, the server does not know it, and would commit without it
  if (hasFailed) await allAnswers(sent);
}

/**
 * Waits for all answers to the statements of one transaction. Throws the failure that is not a consequence of another
 * failure, because promises do not reject in the order of the statements.
 */
export async function allAnswers(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const failures = results
    .filter((result) => result.status === 'rejected')
    .map(({ reason }) => reason as unknown);
  if (failures.length > 0) throw failures.find((failure) => !isConsequence(failure)) ?? failures[0];
}

/**
 * Runs statements of one transaction in their order, and returns their answers. A pipelined connection (pool.ts) sends
 * all of them in one packet, so they take one round trip. Any other connection sends the next statement after the
 * answer to the last statement. If a statement fails, throws this failure, or the first of several failures.
 *
 * @param statements functions that send their first statement before they wait for anything
 */
export async function together<Answers extends readonly unknown[]>(
  tx: pg.ClientBase,
  statements: { readonly [Place in keyof Answers]: () => Promise<Answers[Place]> },
): Promise<Answers> {
  if (!isPipelined(tx)) {
    const answers: unknown[] = [];
    for (const send of statements) answers.push(await send());
    return answers as unknown as Answers;
  }
  const socket = socketOf(tx);
  let sent: Promise<unknown>[];
  socket.cork();
  try {
    // an async function, because answers to earlier statements must be awaited even if a statement cannot be sent
    sent = statements.map(async (send) => send());
  } finally {
    // a corked socket would never send the rollback
    socket.uncork();
  }
  await allAnswers(sent);
  return (await Promise.all(sent)) as unknown as Answers;
}

/** Whether a statement failed only because an earlier statement failed (SQLSTATE in_failed_sql_transaction). */
const isConsequence = (failure: unknown): boolean =>
  failure instanceof Error && 'code' in failure && failure.code === '25P02';

async function runTransaction<C extends pg.ClientBase, T>(
  client: C,
  fn: (tx: C) => Promise<T>,
  begin: string,
  onBroken?: (error: Error) => void,
): Promise<T> {
  try {
    await client.query(begin);
    const value = await fn(client);
    await client.query('COMMIT');
    return value;
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      // The first error has the cause. This error only says that the connection cannot be used any more.
      onBroken?.(rollbackError as Error);
    }
    throw error;
  }
}

function isPool(target: pg.Pool | pg.ClientBase): target is pg.Pool {
  return 'totalCount' in target;
}

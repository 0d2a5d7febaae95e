import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { seam } from '#kernel/process/failpoint.ts';

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
}

/**
 * Runs a transaction on a pipelined connection (pool.ts). `send` sends the statements without waiting for answers, so
 * the server never waits for this process between two statements. Any error rolls back and is thrown. `send` must not
 * throw, because this function would not know which statements were already sent.
 */
export async function pipelinedTransaction(
  client: pg.Client,
  send: (tx: pg.ClientBase) => SentStatements,
  begin = 'BEGIN',
): Promise<void> {
  assert(client.pipeline, 'the connection sends each statement at once');
  const sent: Promise<unknown>[] = [];
  let hasFailed = false;
  try {
    // wait for the answer, because after a refused BEGIN each statement would commit by itself
    await client.query(begin);
    const { decisive, rest } = send(client);
    sent.push(...decisive, ...rest);
    for (const statement of sent) {
      statement.catch(() => {
        hasFailed = true;
      });
    }
    await Promise.all(decisive);
    // if a statement could not be sent, the server does not know it, and would commit without it
    if (hasFailed) await allAnswers(sent);
    sent.push(client.query('COMMIT'));
    const held = seam('commit');
    if (held !== null) sent.push(held);
    await allAnswers(sent);
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

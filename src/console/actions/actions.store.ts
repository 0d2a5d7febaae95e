import type pg from 'pg';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';

/** An action of an operator. */
export interface ConsoleAction {
  readonly action: string;
  /** The changed thing, as in `order 6f1c2b1e-…`. */
  readonly target: string;
  readonly parameters: object;
  /** The result in words. */
  readonly result: string;
}

/** An action as the page of sessions shows it. */
export interface RecordedAction extends Pick<ConsoleAction, 'action' | 'target' | 'result'> {
  readonly doneAt: Date;
  readonly account: string;
  readonly prefix: string;
}

/** Number of actions that the page of sessions shows. */
const shownMax = 50;

/** Records an action, in the transaction of the action. */
export async function recordAction(
  tx: pg.ClientBase,
  { id, key }: ConsoleSession,
  { action, target, parameters, result }: ConsoleAction,
): Promise<void> {
  await tx.query(
    `INSERT INTO service.console_actions (session, account, key_prefix, action, target, parameters, result)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, key.account, key.prefix, action, target, JSON.stringify(parameters), result],
  );
}

/** The last actions, the newest first. */
export async function lastActions(pool: pg.Pool): Promise<readonly RecordedAction[]> {
  const { rows } = await pool.query<RecordedAction>(
    `SELECT done_at AS "doneAt", account, key_prefix AS prefix, action, target, coalesce(result, '') AS result
       FROM service.console_actions ORDER BY id DESC LIMIT ${shownMax}`,
  );
  return rows;
}

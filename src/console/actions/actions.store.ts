import type pg from 'pg';
import type { ConsoleSession } from '#console/sessions/sessions.store.ts';

/** An action of an operator. */
export interface ConsoleAction {
  readonly action: string;
  /** The changed thing, as in `order 6f1c2b1e-…`. */
  readonly target: string;
  readonly parameters: object;
  /** The result in words. Null: it is stored when the work ends. */
  readonly result: string | null;
}

/** An action as the page of sessions shows it. */
export interface RecordedAction extends Pick<ConsoleAction, 'action' | 'target'> {
  readonly result: string;
  readonly doneAt: Date;
  readonly account: string;
  readonly prefix: string;
}

/** Maximum number of characters of a target. The database has the same bound. */
const targetMax = 200;
/** Number of actions that the page of sessions shows. */
const shownMax = 50;

/** Records an action, in the transaction of the action. Returns the number of the record. */
export async function recordAction(
  client: pg.Pool | pg.ClientBase,
  { id, key }: ConsoleSession,
  { action, target, parameters, result }: ConsoleAction,
): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `INSERT INTO service.console_actions (session, account, key_prefix, action, target, parameters, result)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
    [id, key.account, key.prefix, action, target.slice(0, targetMax), JSON.stringify(parameters), result],
  );
  return rows[0]?.id ?? 0;
}

/** Stores the result of an action that was recorded when its work began. */
export async function recordResult(pool: pg.Pool, id: number, result: string): Promise<void> {
  await pool.query('UPDATE service.console_actions SET result = $2 WHERE id = $1', [id, result]);
}

const columns = `id, done_at AS "doneAt", account, key_prefix AS prefix, action, target, coalesce(result, '') AS result`;

/** The last action on a target that was not refused. Null: no such action is recorded. */
export async function lastActionOn(
  client: pg.Pool | pg.ClientBase,
  target: string,
): Promise<(RecordedAction & { readonly id: number }) | null> {
  const { rows } = await client.query<RecordedAction & { id: number }>(
    `SELECT ${columns} FROM service.console_actions WHERE target = $1 AND NOT parameters ? 'refused'
      ORDER BY id DESC LIMIT 1`,
    [target.slice(0, targetMax)],
  );
  return rows[0] ?? null;
}

/** The last actions, the newest first. */
export async function lastActions(pool: pg.Pool): Promise<readonly RecordedAction[]> {
  const { rows } = await pool.query<RecordedAction>(
    `SELECT ${columns} FROM service.console_actions ORDER BY id DESC LIMIT ${shownMax}`,
  );
  return rows;
}

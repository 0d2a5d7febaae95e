import type { ClientBase, QueryResultRow } from 'pg';
import { nextTurn } from '#kernel/concurrency/turns.ts';

/** Maximum number of rows in a part. Reading and processing them takes the event loop some milliseconds. */
const rowsATurn = 1_000;

let cursors = 0;

/**
 * Reads the rows of a statement in parts. Between two parts, other work of the event loop runs, in the turns of
 * `inTurnsOf`. A hundred thousand rows at once would block the event loop for half a second. Must run in a snapshot,
 * whose end closes the cursor.
 */
export async function* rowsInTurns<Row extends QueryResultRow>(
  client: ClientBase,
  statement: string,
  values: readonly unknown[],
): AsyncGenerator<Row[]> {
  const name = `rows_${cursors++}`;
  await client.query(`DECLARE ${name} NO SCROLL CURSOR FOR ${statement}`, [...values]);
  for (;;) {
    const { rows } = await client.query<Row>(`FETCH ${rowsATurn} FROM ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsATurn) return;
    await nextTurn();
  }
}

import type pg from 'pg';

/** A derived table that lacked the rows of blocks when these blocks were matched. */
export interface OwedTable {
  readonly derived: string;
  /** The lowest block that must be matched again. */
  readonly height: number;
}

export async function readOwedTables(client: pg.ClientBase): Promise<OwedTable[]> {
  const { rows } = await client.query<OwedTable>(
    'SELECT derived, height FROM service.watches_owed ORDER BY derived',
  );
  return rows;
}

/** Notes that a block was matched without rows of derived tables. */
export async function writeOwed(
  tx: pg.ClientBase,
  derived: readonly string[],
  height: number,
): Promise<void> {
  if (derived.length === 0) return;
  await tx.query(
    `INSERT INTO service.watches_owed AS o (derived, height) SELECT name, $2 FROM unnest($1::text[]) AS name
     ON CONFLICT (derived) DO UPDATE SET height = least(o.height, excluded.height)`,
    [derived, height],
  );
}

/** Moves the lowest block that must be matched again. */
export async function moveOwed(tx: pg.ClientBase, { derived, height }: OwedTable): Promise<void> {
  await tx.query('UPDATE service.watches_owed SET height = $2 WHERE derived = $1', [derived, height]);
}

/** Forgets a table whose blocks were all matched again. */
export async function deleteOwed(tx: pg.ClientBase, derived: string): Promise<void> {
  await tx.query('DELETE FROM service.watches_owed WHERE derived = $1', [derived]);
}

import type pg from 'pg';
import {
  deleteOwed,
  moveOwed,
  type OwedTable,
  readOwedTables,
  writeOwed,
} from '#watches/store/owed-tables.store.ts';

/**
 * Derived tables that lacked the rows of blocks when these blocks were matched (docs/adr/0017-derived-tables.md). Their
 * blocks are matched again once the tables have all rows.
 */
export class OwedTables {
  readonly #heights = new Map<string, number>();

  async load(client: pg.ClientBase): Promise<void> {
    for (const { derived, height } of await readOwedTables(client)) this.#heights.set(derived, height);
  }

  /** Whether there is no such table, so that all rows of the matched blocks were compared. */
  get isEmpty(): boolean {
    return this.#heights.size === 0;
  }

  /** Notes, in the transaction that matches a block, that derived tables lack the rows of the block. */
  async owe(tx: pg.ClientBase, tables: readonly string[], height: number): Promise<void> {
    const lower = tables.filter((table) => height < (this.#heights.get(table) ?? Number.POSITIVE_INFINITY));
    await writeOwed(tx, lower, height);
    for (const table of lower) this.#heights.set(table, height);
  }

  /** A table that has all rows now. Null: no such table. */
  ready(behind: ReadonlySet<string>): OwedTable | null {
    for (const [derived, height] of this.#heights) if (!behind.has(derived)) return { derived, height };
    return null;
  }

  /** Notes, in the transaction that matches a block again, that the next block is the lowest block left. */
  async matched(tx: pg.ClientBase, { derived, height }: OwedTable): Promise<void> {
    await moveOwed(tx, { derived, height: height + 1 });
    this.#heights.set(derived, height + 1);
  }

  async forget(client: pg.ClientBase, derived: string): Promise<void> {
    await deleteOwed(client, derived);
    this.#heights.delete(derived);
  }
}

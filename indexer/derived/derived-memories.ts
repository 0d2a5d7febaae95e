import type pg from 'pg';
import type { DerivedChain, DerivedMemory, DerivedTable, UndoneOutpoints } from './derived-table.ts';

/** Results of the tables' undo, by table. */
export type UndoneTables = ReadonlyMap<DerivedTable, UndoneOutpoints>;

/** In-memory state of the derived tables in a writing process. */
export class DerivedMemories {
  readonly #memories: ReadonlyMap<DerivedTable, DerivedMemory>;

  private constructor(memories: ReadonlyMap<DerivedTable, DerivedMemory>) {
    this.#memories = memories;
  }

  /** Reads the in-memory state from the rows. */
  static async open(
    client: pg.ClientBase,
    tables: readonly DerivedTable[],
    chain: DerivedChain,
  ): Promise<DerivedMemories> {
    const memories = new Map<DerivedTable, DerivedMemory>();
    for (const table of tables) {
      if (table.openMemory !== undefined) memories.set(table, await table.openMemory(client, chain));
    }
    return new DerivedMemories(memories);
  }

  of(table: DerivedTable): DerivedMemory | null {
    return this.#memories.get(table) ?? null;
  }

  /** Updates the in-memory state after a block was taken back. */
  unlearn(undone: UndoneTables): void {
    for (const [table, outpoints] of undone) this.#memories.get(table)?.unlearn(outpoints);
  }
}

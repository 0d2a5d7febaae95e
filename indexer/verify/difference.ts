import type { Height } from '#kernel/primitives/height.ts';
/** One difference between the tables and the source. */
export interface Difference {
  readonly height: Height;
  readonly table: string;
  /** Key columns and their values, e.g. `key 7, height 800000, step 3`. */
  readonly row: string;
  /** Null: the whole row is missing or should not exist. */
  readonly column: string | null;
  /** The value computed from the source. Null: no such row, or SQL NULL. */
  readonly expected: string | null;
  /** The stored value. */
  readonly found: string | null;
}

import type { Height } from '#kernel/primitives/height.ts';
/** One difference between the tables and the source. */
export interface Difference {
  readonly height: Height;
  readonly table: string;
  /** Key columns and their values, e.g. `key 7, height 800000, step 3`. */
  readonly row: string;
  /** Null: the whole row is missing or superfluous. */
  readonly column: string | null;
  /** The value by the source; null: no such row, or NULL. */
  readonly expected: string | null;
  /** The stored value. */
  readonly found: string | null;
}

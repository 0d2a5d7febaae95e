/** One thing in which the tables are not what the source gives. */
export interface Difference {
  readonly height: number;
  readonly table: string;
  /** Key columns and their values, e.g. `key 7, height 800000, step 3`. */
  readonly row: string;
  /** Null: the row as a whole is missing, or one too many. */
  readonly column: string | null;
  /** What the source gives; null: no such row, or NULL. */
  readonly expected: string | null;
  /** What stands in the table. */
  readonly found: string | null;
}

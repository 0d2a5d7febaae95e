import { dumpChain } from '#test/support/chain/chain-dump.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { payments } from './payments-table.ts';
import { dumpDerivedTest } from './test-derived-tables.ts';

interface State {
  readonly name: string;
  readonly is_followed: boolean;
  readonly tip_height: number | null;
  readonly problem_code: string | null;
}

/** How far the derived tables of a database are, by name. */
export async function statesOf({ pool }: TestDatabase): Promise<Record<string, State>> {
  const { rows } = await pool.query<State>(
    'SELECT name, is_followed, tip_height, problem_code FROM chain.derived_tables',
  );
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}

/** The height of the last block whose payments have a hash; `null` if no block has one. */
export async function lastPaymentHash({ pool }: TestDatabase): Promise<number | null> {
  const { rows } = await pool.query<{ height: number | null }>(
    'SELECT max(height) AS height FROM chain.event_hashes WHERE kind = $1',
    [payments.eventKind?.number],
  );
  return rows[0]?.height ?? null;
}

/** All rows of a chain, including those of the derived tables of tests. */
export interface Rows {
  readonly derived: unknown;
  readonly chain: Record<string, string[]>;
}

export const rowsOf = async ({ pool }: TestDatabase): Promise<Rows> => ({
  derived: await dumpDerivedTest(pool),
  chain: await dumpChain(pool),
});

import type pg from 'pg';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';

/** A fingerprint key that all databases of a test share, so that their rows can be compared. */
export const testFingerprintKey = Buffer.alloc(32, 7);

/** Gives an empty database the fingerprint key of tests. */
export async function pinFingerprintKey(pool: pg.Pool, network: string): Promise<void> {
  await pool.query(
    'INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules) VALUES ($1, $2, 1, 1)',
    [network, testFingerprintKey],
  );
}

const tables = [
  'chain.blocks',
  'chain.contents',
  'chain.metadata_texts',
  'chain.inscriptions',
  'chain.inscription_details',
  'chain.parents',
  'chain.parent_children',
  'chain.child_marks',
  'chain.locations',
] as const;

/** This much of a differing row is shown; the rest counts by its hash. */
const shownLength = 400;

/**
 * Every row of the chain tables as text, without what depends on the time of the run: equal chains give equal dumps.
 */
export async function dumpChain(pool: pg.Pool): Promise<Record<string, string[]>> {
  const dump: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await pool.query<{ line: string }>(
      `SELECT left(whole, ${shownLength}) || ' ' || md5(whole) AS line
       FROM (SELECT (to_jsonb(t) - 'parsed_at')::text AS whole FROM ${table} t) AS lines ORDER BY line`,
    );
    dump[table] = rows.map(({ line }) => line);
  }
  const state = await pool.query<{ line: string }>(
    "SELECT (to_jsonb(s) - '{undo_epoch,derived_epoch}'::text[])::text AS line FROM chain.state s",
  );
  dump['chain.state'] = state.rows.map(({ line }) => line);
  return dump;
}

/** Holds the writer's lock on a separate connection until released. */
export async function holdWriterLock(pool: pg.Pool): Promise<() => void> {
  const client = await pool.connect();
  await takeAdvisoryLock(client, 'writer');
  return () => client.release(true);
}

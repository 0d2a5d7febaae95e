import type pg from 'pg';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';

/** A key for fingerprints that every database of a test shares, so that their rows can be compared. */
export const testFingerprintKey = Buffer.alloc(32, 7);

/** Makes the fingerprint key of an empty database the one of tests. */
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

/** So much of a row is shown where it differs; the rest of it counts by its hash. */
const shownLength = 400;

/** Every row of the chain tables as text, without what depends on the moment: the same chain gives the same dump. */
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

/** Holds the lock of the writer on a connection of its own until it is given back. */
export async function holdWriterLock(pool: pg.Pool): Promise<() => void> {
  const client = await pool.connect();
  await takeAdvisoryLock(client, 'writer');
  return () => client.release(true);
}

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
  'chain.properties',
  'chain.gallery_pages',
  'chain.gallery_attributes',
  'chain.locations',
  'chain.rune_blocks',
  'chain.runes',
  'chain.rune_balances',
  'chain.rune_mints',
  'chain.rune_burns',
  'chain.sat_ranges',
  'chain.sats',
  'chain.rare_sats',
  'chain.lost_sats',
  'chain.spent_sats',
  'chain.recent_sats',
  'chain.sales',
] as const;

/** Maximum number of characters shown of a row that differs. The rest is compared by its hash. */
const shownLength = 400;

/**
 * Returns every row of the chain tables as text, except data that depends on the time of the run. Equal chains have
 * equal dumps.
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
    "SELECT (to_jsonb(s) - '{undo_epoch,derived_epoch,set_up_at,caught_up_at}'::text[])::text AS line FROM chain.state s",
  );
  dump['chain.state'] = state.rows.map(({ line }) => line);
  return dump;
}

/** Tables and columns that differ between databases that applied the same blocks. */
const tablesOfRun = ['migrations', 'follower_status'];
const columnsOfRun = ['parsed_at', 'written_at', 'undo_epoch', 'derived_epoch'];

/**
 * Queries for the rows of all chain tables, including the outbox. They return texts without data that depends on the
 * run.
 */
async function rowQueries(pool: pg.Pool): Promise<{ name: string; query: string }[]> {
  const { rows } = await pool.query<{ name: string; columns: string }>(
    `SELECT relname AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE relnamespace = 'chain'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
       AND relname <> ALL ($1) AND attname <> ALL ($2)
     GROUP BY relname ORDER BY relname`,
    [tablesOfRun, columnsOfRun],
  );
  return rows.map(({ name, columns }) => ({
    name,
    query: `SELECT ROW(${columns})::text AS whole FROM chain.${name}`,
  }));
}

/** For every table of the chain, the number of its rows, and a hash of all rows. */
async function hashTables(pool: pg.Pool): Promise<Map<string, string>> {
  const hashes = (await rowQueries(pool)).map(
    ({ name, query }) =>
      `SELECT '${name}' AS name, count(*) || ' rows ' || coalesce(sum(hashtextextended(whole, 0)::numeric), 0) AS hash
       FROM (${query}) AS lines`,
  );
  const { rows } = await pool.query<{ name: string; hash: string }>(hashes.join(' UNION ALL '));
  return new Map(rows.map(({ name, hash }) => [name, hash]));
}

/**
 * Returns a function that compares another database with this one. It returns the rows of chain tables that only one of
 * the two databases has.
 */
export async function comparisonWith(pool: pg.Pool): Promise<(other: pg.Pool) => Promise<string[]>> {
  const expected = await hashTables(pool);
  const tables: { name: string; query: string; lines: ReadonlySet<string> }[] = [];
  for (const table of await rowQueries(pool)) {
    tables.push({ ...table, lines: await linesOf(pool, table.query) });
  }
  return async (other) => {
    const found = await hashTables(other);
    const differences: string[] = [];
    for (const { name, query, lines } of tables) {
      if (found.get(name) === expected.get(name)) continue;
      differences.push(`${name}: ${found.get(name)} and not ${expected.get(name)}`);
      differences.push(...(await linesOf(other, query)).symmetricDifference(lines));
    }
    return differences.map((line) => line.slice(0, shownLength));
  };
}

async function linesOf(pool: pg.Pool, query: string): Promise<Set<string>> {
  return new Set((await pool.query<{ whole: string }>(query)).rows.map(({ whole }) => whole));
}

/** Holds the writer's lock on a separate connection. Returns a function that releases the lock. */
export async function holdWriterLock(pool: pg.Pool): Promise<() => void> {
  const client = await pool.connect();
  await takeAdvisoryLock(client, 'writer');
  return () => client.release(true);
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

/** A machine without a service: a database, and a folder for seed, mark, secret and files. */
export interface Machine {
  readonly database: TestDatabase;
  readonly folder: string;
  readonly seedFile: string;
  readonly filesDir: string;
  readonly secretFile: string;
  /** Settings of a service of this machine. */
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

/** @param create makes its database; absent: an empty one with all migrations */
export async function newMachine(create: () => Promise<TestDatabase> = createTestDatabase): Promise<Machine> {
  const database = await create();
  const folder = await makeDataDir();
  const [seedFile, filesDir, secretFile] = ['seed', 'files', 'secret'].map((name) => join(folder.path, name));
  return {
    database,
    folder: folder.path,
    seedFile: seedFile!,
    filesDir: filesDir!,
    secretFile: secretFile!,
    env: {
      ...database.settings,
      WALLET_SEED_FILE: seedFile!,
      FILES_DIR: filesDir!,
      SERVICE_SECRET_FILE: secretFile!,
    },
    close: async () => {
      await database.drop();
      await folder.remove();
    },
  };
}

/** All rows of schema `service` as text, sorted, by table. Releases and the time of migrations belong to a database. */
export async function rowsByTable(pool: pg.Pool): Promise<Record<string, readonly string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = 'service'::regnamespace AND relkind = 'r' AND relname <> 'migrations' ORDER BY relname`,
  );
  const found: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT t::text AS row FROM service.${name} AS t ORDER BY t::text COLLATE "C"`,
    );
    found[name] = rows.map(({ row }) => row);
  }
  return found;
}

/** Rows without those of the wallet, whose indices a restore moves on. */
export function withoutIndices(rows: Record<string, readonly string[]>): Record<string, readonly string[]> {
  return Object.fromEntries(
    // a restore begins a hold of payments
    Object.entries(rows).filter(([name]) => !['wallet', 'wallet_branches', 'payment_holds'].includes(name)),
  );
}

/** Constraints, triggers with their states, and values of sequences of schema `service`. */
export async function rulesOf(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ rule: string }>(
    `SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS rule
       FROM pg_constraint WHERE connamespace = 'service'::regnamespace
     UNION ALL
     SELECT format('%s %s', tgenabled, pg_get_triggerdef(t.oid))
       FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
      WHERE relnamespace = 'service'::regnamespace AND NOT tgisinternal
     ORDER BY rule`,
  );
  return rows.map(({ rule }) => rule);
}

/** Next values of all sequences of schema `service`. */
export async function sequencesOf(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ value: string }>(
    `SELECT format('%s %s', sequencename, last_value) AS value FROM pg_sequences
      WHERE schemaname = 'service' AND sequencename NOT IN ('migrations_id_seq', 'payment_holds_id_seq')
      ORDER BY sequencename`,
  );
  return rows.map(({ value }) => value);
}

/** Contents of all files below a folder, by their path, in hex. Empty if the folder does not exist. */
export async function contentsBelow(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const found: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found[path.slice(folder.length + 1)] = (await readFile(path)).toString('hex');
  }
  return Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { AppError } from '#kernel/errors/app-error.ts';
import { migrationsDone } from '#kernel/pg/migrate.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import {
  type BackedUpTable,
  type BackupManifest,
  backupParts,
  damaged,
  fileOfTable,
} from './backup-manifest.ts';
import type { BackupWork } from './backup-progress.ts';
import {
  copiedColumns,
  inService,
  lockTables,
  rulesToLift,
  serviceTables,
  setSequence,
  usedTables,
} from './service-catalog.queries.ts';

export interface LoadOptions<Result> extends BackupWork {
  /** Address of the database, for messages. */
  readonly url: string;
  readonly dir: string;
  readonly manifest: BackupManifest;
  /** Called in the transaction after the last row was loaded. Its result is the result of the load. */
  readonly beforeCommit: (tx: pg.ClientBase) => Promise<Result>;
}

/**
 * Loads all tables of a backup into the schema `service` at the migrations of the backup, in one transaction: all rows
 * or none at all. Foreign keys are dropped for the load and added again after it, so tables need no order and keys may
 * form cycles; adding checks every row. Throws `restore_refused` if a service began to use the database meanwhile, and
 * `backup_damaged`.
 */
export function loadService<Result>(client: pg.ClientBase, options: LoadOptions<Result>): Promise<Result> {
  return withTransaction(client, (tx) => loadWithin(tx, options));
}

async function loadWithin<Result>(
  tx: pg.ClientBase,
  { url, dir, manifest, beforeCommit, signal, onProgress }: LoadOptions<Result>,
): Promise<Result> {
  const tables = await serviceTables(tx);
  await lockTables(
    tx,
    tables.map(({ name }) => name),
    'ACCESS EXCLUSIVE',
  );
  await requireUntouched(tx, url, manifest);
  const rules = await rulesToLift(tx);
  for (const { remove } of rules) await tx.query(remove);
  await tx.query(`TRUNCATE ${tables.map(({ name }) => inService(name)).join(', ')}`);
  const of = manifest.tables.reduce((sum, { textBytes }) => sum + textBytes, 0);
  let done = 0;
  for (const table of manifest.tables) {
    await loadTable(tx, table, join(dir, backupParts.tables, fileOfTable(table.name)), {
      signal,
      onBytes: (bytes) => {
        done += bytes;
        onProgress({ step: 'load', done, of });
      },
    });
  }
  for (const { add } of rules.toReversed()) await tx.query(add);
  for (const sequence of manifest.sequences) await setSequence(tx, sequence);
  // a backup of an earlier version may lack the table
  if (tables.some(({ name }) => name === 'console_sessions')) await tx.query(endSessions);
  return beforeCommit(tx);
}

/**
 * Ends all sessions of the operator's console. A session of the backup may have been ended after the backup, for
 * example because its cookie was stolen. The rows stay, because records of actions name them.
 */
const endSessions = 'UPDATE service.console_sessions SET ended_at = now() WHERE ended_at IS NULL';

/** Refuses tables that are not those of the backup, and tables with rows of a service that began meanwhile. */
async function requireUntouched(tx: pg.ClientBase, url: string, manifest: BackupManifest): Promise<void> {
  const done = await migrationsDone(tx, 'service', url);
  const used = await usedTables(tx);
  if (done.join(' ') !== manifest.migrations.join(' ') || used.length > 0)
    throw new AppError(
      'restore_refused',
      'A service was started with this database during the restore: stop it first.',
    );
  const [found, expected] = [await serviceTables(tx), manifest.tables].map((tables) =>
    tables.map(copiedColumns).toSorted().join('\n'),
  );
  if (found !== expected) throw damaged('its tables are not those of its migrations');
}

/** Adds the rows of a table's file. Throws `backup_damaged` if their number differs. */
export async function loadTable(
  tx: pg.ClientBase,
  table: Pick<BackedUpTable, 'name' | 'columns' | 'rows'>,
  path: string,
  { signal, onBytes }: { readonly signal: AbortSignal; readonly onBytes: (bytes: number) => void },
): Promise<void> {
  const into = tx.query(copyFrom(`COPY ${copiedColumns(table)} FROM STDIN`));
  await pipeline(
    createReadStream(path),
    createZstdDecompress(),
    async function* counted(source: AsyncIterable<Buffer>) {
      for await (const part of source) {
        onBytes(part.length);
        yield part;
      }
    },
    into,
    { signal },
  );
  if (into.rowCount !== table.rows)
    throw damaged(`${table.name} has ${into.rowCount} rows, not ${table.rows}`);
}

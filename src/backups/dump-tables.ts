import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { migrationsDone } from '#kernel/pg/migrate.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { unlessTableMissing } from '#kernel/pg/unless-table-missing.ts';
import { neededContents } from '#orders/files/file.store.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import { type BackedUpTable, type BackupManifest, fileOfTable } from './backup-manifest.ts';
import type { BackupWork } from './backup-progress.ts';
import {
  copiedColumns,
  lockTables,
  type ServiceTable,
  sequenceValues,
  serviceTables,
} from './service-catalog.queries.ts';

/**
 * Bytes that are compressed at once. The server sends each row by itself, and a call of the compressor for each row
 * would take longer than the compression. Together with the buffers of streams, a dump needs some 10 MB.
 */
const compressedAtOnce = 1 << 18;
/** Compression level of zstd: its default. Higher levels are slower than the server sends rows. */
const compressionLevel = 3;

/** Facts of a dump, all from one snapshot, except the sequences and the tip, which is that at the begin. */
export type Dump = Pick<BackupManifest, 'network' | 'tip' | 'migrations' | 'wallet' | 'tables' | 'sequences'>;

export interface DumpPlaces {
  /** Folder for a file of each table. */
  readonly tables: string;
  /** File for the hashes of contents that rows need, one in each line. */
  readonly needed: string;
}

/**
 * Writes all rows of schema `service` into files, as one snapshot of the database. Services continue to write
 * meanwhile; migrations wait. Throws `database_newer`, and `database_busy` if a migration ran just before.
 */
export async function dumpService(
  client: pg.ClientBase,
  url: string,
  places: DumpPlaces,
  work: BackupWork,
): Promise<Dump> {
  const known = await serviceTables(client);
  // an index of the chain may be missing
  const height = await unlessTableMissing(indexedTip(client));
  const dump = await withTransaction(
    client,
    (tx) => dumpWithin(tx, url, known, places, work),
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
  return { ...dump, tip: height === null ? null : { height } };
}

async function dumpWithin(
  tx: pg.ClientBase,
  url: string,
  known: readonly ServiceTable[],
  places: DumpPlaces,
  { signal, onProgress }: BackupWork,
): Promise<Omit<Dump, 'tip'>> {
  // the first statement: the snapshot begins after it, when no migration can change the tables any more
  await lockTables(
    tx,
    known.map(({ name }) => name),
    'ACCESS SHARE',
  );
  const migrations = await migrationsDone(tx, 'service', url);
  const tables = await serviceTables(tx);
  if (namesOf(tables) !== namesOf(known))
    throw new AppError('database_busy', 'A migration changed the tables just now.');
  const wallet = await readWallet(tx);
  const facts = {
    migrations,
    network: await servedNetwork(tx),
    wallet:
      wallet === null
        ? null
        : {
            network: wallet.network,
            accountXpub: wallet.accountXpub,
            masterFingerprint: wallet.masterFingerprint,
          },
  };
  const of = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  const dumped: BackedUpTable[] = [];
  let done = 0;
  for (const table of tables) {
    const { name, bytes } = table;
    const before = done;
    const progress = (textBytes: number): void =>
      onProgress({ step: 'tables', done: before + Math.min(textBytes, bytes), of });
    dumped.push(await dumpTable(tx, table, join(places.tables, fileOfTable(name)), { signal, progress }));
    done += bytes;
  }
  const lines = tx.query(copyTo(`COPY (${neededContents}) TO STDOUT`));
  await pipeline(lines, createWriteStream(places.needed, { flags: 'wx', mode: 0o600 }), { signal });
  // read last: no row of the snapshot has a later value
  return { ...facts, tables: dumped, sequences: [...(await sequenceValues(tx))] };
}

const namesOf = (tables: readonly ServiceTable[]): string => tables.map(({ name }) => name).join(' ');

/** Writes the rows of a table as text of COPY, compressed, into a new file. */
export async function dumpTable(
  tx: pg.ClientBase,
  table: Pick<ServiceTable, 'name' | 'columns'>,
  path: string,
  { signal, progress }: { readonly signal: AbortSignal; readonly progress: (textBytes: number) => void },
): Promise<BackedUpTable> {
  const { name, columns } = table;
  const rows = tx.query(copyTo(`COPY ${copiedColumns(table)} TO STDOUT`));
  const hash = createHash('sha256');
  let [textBytes, bytes] = [0, 0];
  await pipeline(
    rows,
    async function* inBlocks(source: Readable) {
      for await (const block of blocksOf(source)) {
        textBytes += block.length;
        progress(textBytes);
        yield block;
      }
    },
    createZstdCompress({
      params: {
        [constants.ZSTD_c_compressionLevel]: compressionLevel,
        [constants.ZSTD_c_checksumFlag]: 1,
      },
    }),
    async function* hashed(source: AsyncIterable<Buffer>) {
      for await (const part of source) {
        hash.update(part);
        bytes += part.length;
        yield part;
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    { signal },
  );
  return { name, columns: [...columns], rows: rows.rowCount, bytes, textBytes, sha256: hash.digest('hex') };
}

/** Joins small chunks. */
async function* blocksOf(source: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of source as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes < compressedAtOnce) continue;
    yield Buffer.concat(parts);
    parts = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(parts);
}

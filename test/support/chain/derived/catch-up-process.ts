/**
 * A process that follows a folder and fills derived tables, with a failpoint at which it kills itself.
 */
import { catchUp } from '#indexer/catch-up/catch-up.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { follow } from '#indexer/follow/follow.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { armFailpoint, type Failpoint } from '#kernel/process/failpoint.ts';
import { testDerivedTables } from './test-derived-tables.ts';

export interface CatchUpTask {
  readonly url: string;
  readonly dir: string;
  /** The tip up to which it follows. Default: the tip of the folder. */
  readonly tip?: string;
  /** `program`: only tables of the program. Default: those of tests too. */
  readonly tables?: 'program';
  readonly failpoint: readonly [name: Failpoint, passes: number] | null;
}

const { url, dir, tip, tables, failpoint } = JSON.parse(process.argv[2] as string) as CatchUpTask;
if (failpoint !== null) armFailpoint(...failpoint);
const pool = createPool(url, { applicationName: 'satscribe test' });
const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
const { signal } = new AbortController();
const writer = new WriterActivity();
const known = tables === 'program' ? derivedTables : testDerivedTables;
const common = { source, pool, signal, threads: 1, derivedTables: known };
await Promise.all([
  follow({ ...common, activity: writer, bounds: { blocksMax: 20 } }),
  catchUp({
    ...common,
    settings: { indexAddresses: false, indexRunes: true, indexSats: false, indexSales: true },
    writer,
    endsCaughtUp: true,
    bounds: { blocksMax: 20, lookMs: 20 },
  }),
]);
await pool.end();

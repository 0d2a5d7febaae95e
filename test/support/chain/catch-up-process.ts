/**
 * A process that follows a folder and fills the derived tables of tests, with a failpoint at which it kills itself.
 */
import { catchUp } from '#indexer/catch-up/catch-up.ts';
import { follow } from '#indexer/follow/follow.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { armFailpoint, type Failpoint } from '#kernel/failpoint.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { testDerivedTables } from './test-derived-tables.ts';

export interface CatchUpTask {
  readonly url: string;
  readonly dir: string;
  readonly tip: string;
  readonly failpoint: readonly [name: Failpoint, passes: number] | null;
}

const { url, dir, tip, failpoint } = JSON.parse(process.argv[2] as string) as CatchUpTask;
if (failpoint !== null) armFailpoint(...failpoint);
const pool = createPool(url, { applicationName: 'satscribe test' });
const source = await openFolderSource(dir, { tip });
const { signal } = new AbortController();
const writer = new WriterActivity();
const common = { source, pool, signal, threads: 1, derivedTables: testDerivedTables };
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

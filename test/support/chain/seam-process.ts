/**
 * A process that loads a folder in small batches. It kills itself at a seam of overlapped batches. Or it stops at
 * several seams, one after another, reports each to its parent, and continues when the parent tells it to.
 */
import { once } from 'node:events';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { armSeam, killProcess, type Seam, sayFailpoint } from '#kernel/process/failpoint.ts';

export interface SeamTask {
  readonly url: string;
  readonly dir: string;
  readonly batchBlocks: number;
  /** Seams, each with the number of batches that must pass it before. */
  readonly at: readonly (readonly [seam: Seam, passes: number])[];
  readonly how: 'kill' | 'hold';
}

const { url, dir, batchBlocks, at, how } = JSON.parse(process.argv[2] as string) as SeamTask;
const left = [...at];

function armNext(): void {
  const next = left.shift();
  if (next === undefined) return;
  const [name, passes] = next;
  armSeam(name, passes, async (batches) => {
    if (how === 'kill') {
      sayFailpoint(name, batches);
      killProcess();
    }
    process.send?.([name, batches.decided, batches.committed]);
    await once(process, 'message');
    armNext();
  });
}

armNext();
const pool = createPool(url, { applicationName: 'satscribe test' });
await follow({
  source: await openFolderSource(dir),
  pool,
  signal: new AbortController().signal,
  threads: 1,
  indexAddresses: true,
  indexSats: true,
  bounds: { load: { blocksMin: 1, blocksMax: batchBlocks } },
});
await pool.end();
process.disconnect();

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { allowCheckpoints } from '#bench/allow-checkpoints.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { cachedFolder } from '#test/builders/block-folder.ts';
import { benchData, parametersName } from '../index/generated-chain.ts';
import { processOutcome } from '../process-outcome.ts';
import { median } from '../statistics.ts';
import type { Section } from './section.ts';
import { fillTrackedOutputs } from './tracked-database.ts';
import { generateTransferChain, transferPlan } from './transfer-chain.ts';

/**
 * The measurement: `restart` from process start to the next block's commit, `load` of the writer's memory, or
 * `transfers` of the blocks.
 */
export interface TrackedTask {
  readonly kind: 'restart' | 'load' | 'transfers';
  readonly url: string;
  readonly folder: string;
}

export interface TrackedOutcome {
  readonly loadMs: number;
  readonly trackedOutputs: number;
  readonly setBytes: number;
  /** Peak size of the process, minus its size before loading. */
  readonly peakBytes: number;
  readonly blocks: {
    readonly timesMs: readonly number[];
    /**
     * Two parts of the time: the ledger's rules, and the transaction. The remaining time is for reads from the
     * database.
     */
    readonly ledgerMs: readonly number[];
    readonly writeMs: readonly number[];
    /** Mean number per block. */
    readonly walBytes: number;
    readonly rows: number;
  } | null;
}

interface Measured {
  readonly restartSeconds: number;
  readonly load: TrackedOutcome;
  readonly blocks: NonNullable<TrackedOutcome['blocks']>;
}

const processFile = fileURLToPath(new URL('./tracked-process.ts', import.meta.url));
const few = 100_000;

function run(task: TrackedTask): Promise<TrackedOutcome | null> {
  return processOutcome(processFile, task, `the ${task.kind} of the bench`);
}

async function measure(folder: string, outputs: number): Promise<Measured> {
  const dataDir = join(benchData, `tracked-${outputs}`);
  rmSync(dataDir, { recursive: true, force: true });
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    await allowCheckpoints(server);
    await migrate(server.url);
    const pool = createPool(server.url, { applicationName: 'satscribe bench' });
    await fillTrackedOutputs(pool, await openFolderSource(folder), outputs);
    await pool.query('CHECKPOINT');
    await pool.end();
    const load = (await run({ kind: 'load', url: server.url, folder })) as TrackedOutcome;
    const start = performance.now();
    await run({ kind: 'restart', url: server.url, folder });
    const restartSeconds = (performance.now() - start) / 1000;
    const { blocks } = (await run({ kind: 'transfers', url: server.url, folder })) as TrackedOutcome;
    return { restartSeconds, load, blocks: blocks as NonNullable<TrackedOutcome['blocks']> };
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Measures the cost of a block and the time of a start, with very many tracked outputs and with few. */
export async function trackedSection(outputs: number, withRatio: boolean): Promise<Section> {
  const folder = join(benchData, `transfers-${parametersName(transferPlan)}`);
  cachedFolder(folder, generateTransferChain);
  const less = withRatio ? await measure(folder, few) : null;
  const many = await measure(folder, outputs);
  const medianMs = median(many.blocks.timesMs);
  const ratio =
    less === null
      ? []
      : [
          {
            name: 'transfersCostRatio',
            value: medianMs / median(less.blocks.timesMs),
            unit: 'x',
            target: { most: 2 },
          },
        ];
  const costs = (at: string, { blocks }: Measured): Section['details'] => [
    { name: `transfers at ${at}, a block`, value: median(blocks.timesMs), unit: 'ms' },
    { name: `transfers at ${at}, of it the ledger`, value: median(blocks.ledgerMs), unit: 'ms' },
    { name: `transfers at ${at}, of it the transaction`, value: median(blocks.writeMs), unit: 'ms' },
    { name: `transfers at ${at}, rows touched`, value: blocks.rows, unit: 'a block' },
    { name: `transfers at ${at}, WAL`, value: blocks.walBytes / 1e6, unit: 'MB a block' },
  ];
  const { load } = many;
  return {
    notes: [
      `tracked: ${load.trackedOutputs.toLocaleString('en')} outputs, each with an inscription, put into the tables as rows; ` +
        `${transferPlan.measuredBlocks} blocks of ${transferPlan.transfersPerBlock} transfers each, spread over all of them, after a checkpoint and ${transferPlan.warmUpBlocks} blocks to warm up; ledger, writer and a durable commit of each block`,
      'restart: from the start of a process to the commit of the next block; memory is the growth of the process while it loads',
    ],
    figures: [
      ...ratio,
      { name: 'restartSeconds', value: many.restartSeconds, unit: 's', target: { most: 20 } },
      { name: 'trackedSetMB', value: load.setBytes / 1e6, unit: 'MB', target: { most: 160 } },
      { name: 'trackedLoadPeakMB', value: load.peakBytes / 1e6, unit: 'MB', target: { most: 320 } },
    ],
    details: [
      { name: 'loading alone', value: load.loadMs / 1000, unit: 's' },
      ...(less === null ? [] : costs(few.toLocaleString('en'), less)),
      ...costs(outputs.toLocaleString('en'), many),
    ],
  };
}

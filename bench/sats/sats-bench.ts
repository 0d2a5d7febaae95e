import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { fedNode } from '../follow/fed-node.ts';
import { bitcoind } from '../follow/follow-bench.ts';
import { type FirstSync, firstSync, firstSyncFolder, ordSync } from '../follow/sync.ts';
import { numberOption, OptionError } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median } from '../statistics.ts';
import { onDemand } from './on-demand.ts';

/** Sizes of the tables of sats on disk. */
interface SatsOnDisk {
  readonly outputs: number;
  readonly ranges: number;
  /** Size of `sat_ranges` with its indexes, in bytes. */
  readonly bytes: number;
  /** Size of all tables of sats, in bytes. */
  readonly allBytes: number;
}

async function onDisk(): Promise<SatsOnDisk> {
  const server = await startEmbeddedPostgres({ dataDir: firstSyncFolder });
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  try {
    const { rows } = await pool.query<SatsOnDisk>(
      `SELECT count(*)::integer AS outputs, sum(length(ranges) / 11)::integer AS ranges,
         pg_total_relation_size('chain.sat_ranges')::float8 AS bytes,
         (SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'chain'::regnamespace
           AND relname IN ('sat_ranges', 'sats', 'rare_sats', 'lost_sats', 'spent_sats'))::float8 AS "allBytes"
       FROM chain.sat_ranges`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error('an aggregate has one row');
    return row;
  } finally {
    await pool.end();
    await server.stop();
  }
}

/**
 * Keeps as many blocks as ord's default settings can undo. Satscribe's default would keep all blocks of such a short
 * chain.
 */
const settings = { SATS_KEEP_BLOCKS: '18' };

const secondsOf = (syncs: readonly FirstSync[], of: (sync: FirstSync) => number): number =>
  median(syncs.map(of));

type Section = Omit<Report, 'bench'>;

interface SyncOptions {
  readonly executable: string;
  readonly seed: string;
  readonly leastBytes: number;
  readonly rounds: number;
  readonly ord: string | null;
}

/** Measures a first sync with an index of sats. */
async function syncSection({ executable, seed, leastBytes, rounds, ord }: SyncOptions): Promise<Section> {
  const { dataDir, chain } = await fedNode(executable, { seed, leastBytes });
  const [withSats, without]: [FirstSync[], FirstSync[]] = [[], []];
  const ords: number[] = [];
  const node = await startBitcoind({ executable, dataDir });
  try {
    for (let round = 0; round < rounds; round++) {
      without.push(await firstSync(node, chain));
      if (ord !== null) ords.push(await ordSync(ord, node, ['--index-sats']));
      withSats.push(await firstSync(node, chain, ['--index-sats'], settings));
    }
  } finally {
    await node.stop();
  }
  const disk = await onDisk();
  rmSync(firstSyncFolder, { recursive: true, force: true });
  const megabytes = chain.bytes / 1e6;
  const rate = megabytes / secondsOf(withSats, ({ seconds }) => seconds);
  const ordRate = ords.length === 0 ? null : megabytes / median(ords);
  const cpu = (syncs: readonly FirstSync[]): number =>
    secondsOf(syncs, ({ oursSeconds, postgresSeconds }) => oursSeconds + postgresSeconds);
  const ofOrd: Figure[] =
    ordRate === null
      ? []
      : [
          { name: 'ordSatsMBps', value: ordRate, unit: 'MB/s' },
          { name: 'satsOverOrd', value: rate / ordRate, unit: 'x', target: { least: 1.2 } },
        ];
  return {
    notes: [
      `${megabytes.toFixed(0)} MB in ${chain.blocks} blocks of mainnet's shape from a node; medians of ${rounds} runs in turns: \`satscribe index\`, ${ord === null ? '' : '`ord --index-sats index update`, '}\`satscribe index --index-sats\`, each from an empty folder to its end`,
    ],
    figures: [
      { name: 'satsMBps', value: rate, unit: 'MB/s' },
      ...ofOrd,
      { name: 'bytesPerOutput', value: disk.bytes / disk.outputs, unit: 'bytes' },
    ],
    details: [
      { name: 'without sats', value: megabytes / secondsOf(without, ({ seconds }) => seconds), unit: 'MB/s' },
      { name: 'processor time with sats', value: cpu(withSats), unit: 's' },
      { name: 'processor time without', value: cpu(without), unit: 's' },
      { name: 'unspent outputs', value: disk.outputs, unit: '' },
      { name: 'ranges of an output', value: disk.ranges / disk.outputs, unit: '' },
      {
        name: 'all tables of sats, for a megabyte of blocks',
        value: disk.allBytes / 1e3 / megabytes,
        unit: 'kB',
      },
    ],
  };
}

/** `npm run bench -- sats`: a first sync with an index of sats, and the sats of an output without one. */
export async function satsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      ord: { type: 'string' },
      megabytes: { type: 'string', default: '300' },
      rounds: { type: 'string', default: '3' },
      depth: { type: 'string', default: '1000' },
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const rounds = numberOption('rounds', values.rounds, 1);
  const leastBytes = numberOption('megabytes', values.megabytes, 1) * 1e6;
  const depth = numberOption('depth', values.depth, 1);
  const { only = null, seed, ord = null } = values;
  if (only !== null && only !== 'sync' && only !== 'on-demand')
    throw new OptionError(`--only ${only}: the sections are sync and on-demand`);
  const executable = bitcoind();
  const sections: Section[] = [];
  if (only !== 'on-demand') sections.push(await syncSection({ executable, seed, leastBytes, rounds, ord }));
  if (only !== 'sync') sections.push(await onDemandSection(executable, depth));
  return {
    bench: 'sats',
    notes: sections.flatMap(({ notes }) => notes),
    figures: sections.flatMap(({ figures }) => figures),
    details: sections.flatMap(({ details }) => details),
  };
}

async function onDemandSection(executable: string, depth: number): Promise<Section> {
  return {
    notes: [
      `on demand: ${depth} transactions back, each in a block of its own with 39 others, from a warm node without an index of transactions; nothing in our memory`,
    ],
    figures: await onDemand(executable, depth),
    details: [],
  };
}

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Piscina } from 'piscina';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { SourceFile } from '#test/builders/repeated-blocks.ts';
import { readBlockFiles } from '../block-files.ts';
import { takeTurns, type Variant } from '../measure.ts';
import { numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median } from '../statistics.ts';
import { bitcoinjsScan, hashedByte, walk } from './references.ts';

const fingerprintKey = Buffer.alloc(32, 7);
const hashLoopCount = 200_000;
const leastBlocksOfARun = 60; // so that the end, when one thread is idle, does not count

interface ThreadsVariant extends Variant {
  close(): Promise<void>;
}

/** Buffer that all columns reuse, like between the pool and its workers. */
let columnsBuffer: ArrayBufferLike = new ArrayBuffer(0);

function parse(file: SourceFile): ArrayBufferLike {
  const result = parseBlock(file.bytes, { spent: file.spent, fingerprintKey, into: columnsBuffer });
  if (result.kind === 'broken') throw new Error(`block ${file.height}: ${result.message}`);
  columnsBuffer = result.columns;
  return columnsBuffer;
}

/** Divides a fixed number of hashes among threads. */
function hashVariant(threads: number): ThreadsVariant {
  const pool = new Piscina<number, number>({
    filename: new URL('./hash-loop.worker.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
  });
  return {
    name: `hash ${threads}`,
    run: () => Promise.all(Array.from({ length: threads }, () => pool.run(hashLoopCount / threads))),
    close: () => pool.destroy(),
  };
}

/**
 * A source of blocks in shared memory. The blocks are marked as trusted, so workers only parse, and nothing is read or
 * copied.
 */
function memorySource(files: readonly SourceFile[]): BlockSource {
  const shared = files.map(({ bytes, spent }) => ({
    bytes: inShared(bytes),
    spentOutputs: spent === null ? null : inShared(spent),
    spentHeights: null,
  }));
  const none = (): Promise<[]> => Promise.resolve([]);
  return {
    name: 'memory',
    network: 'mainnet',
    trusted: true,
    islands: none,
    refs: none,
    read: (ref) =>
      Promise.resolve({ ref, ...(shared[ref.height % files.length] as (typeof shared)[number]) }),
    close: () => Promise.resolve(),
  };
}

function inShared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** Parses the blocks in worker threads, like the indexer does. */
function poolVariant(threads: number, files: readonly SourceFile[], repeats: number): ThreadsVariant {
  const pool = createParsePool(createBufferPool(), { threads });
  const source = memorySource(files);
  const refs = Array.from({ length: files.length * repeats }, (_, height) => ({
    height: asHeight(height),
    hash: asBlockHash(fingerprintKey),
  }));
  const { signal } = new AbortController();
  return {
    name: `parse ${threads}`,
    async run() {
      for await (const block of pool.blocks(source, refs, fingerprintKey, signal)) block.release();
    },
    close: () => pool.close(),
  };
}

/** Counts the contents of the blocks, so that empty blocks are not mistaken for fast parsing. */
function describe(files: readonly SourceFile[]): {
  transactions: number;
  envelopes: number;
  columnsBytes: number;
  contents: number;
} {
  const sum = { transactions: 0, envelopes: 0, columnsBytes: 0, contents: 0 };
  for (const file of files) {
    const encoded = parse(file);
    const columns = decodeBlockColumns(encoded);
    sum.transactions += columns.txOutputs.length;
    sum.envelopes += columns.envelopeFlags.length;
    sum.contents += columns.contentVariant.length;
    for (const column of Object.values(columns)) sum.columnsBytes += column.byteLength;
  }
  return sum;
}

/** `npm run bench -- parse`: megabytes of blocks per second, from bytes to encoded columns. */
export async function parseBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: 'samples/mainnet' },
      rounds: { type: 'string', default: '9' },
      seed: { type: 'string' },
    },
  });
  const rounds = numberOption('rounds', values.rounds, 1);
  const files = readBlockFiles(values.blocks);
  const megabytes = files.reduce((sum, file) => sum + file.bytes.length, 0) / 1e6;
  const content = describe(files);
  const cores = availableParallelism();
  const repeats = Math.ceil(leastBlocksOfARun / files.length);
  const pools = [...new Set([2, cores])].map((count) => poolVariant(count, files, repeats));
  const threads = [hashVariant(1), hashVariant(2), ...pools];
  let envelopesSeen = 0;
  const variants: Variant[] = [
    { name: 'parse', run: () => files.forEach(parse) },
    { name: 'walk', run: () => files.forEach((file) => walk(file.bytes, false)) },
    { name: 'walkAndHash', run: () => files.forEach((file) => walk(file.bytes, true)) },
    {
      name: 'bitcoinjs',
      run() {
        envelopesSeen = files.reduce((sum, file) => sum + bitcoinjsScan(file.bytes), 0);
      },
    },
    ...threads,
  ];
  const times = await takeTurns(variants, rounds);
  await Promise.all(threads.map((variant) => variant.close()));
  const ms = (name: string): number => median(times.get(name) ?? []);
  const rate = (name: string): number => (megabytes / ms(name)) * 1000;
  // compares within each round, because other load affects both sides of a round
  const ratio = (slow: string, fast: string): number => {
    const fastMs = times.get(fast) ?? [];
    return median((times.get(slow) ?? []).map((slowMs, round) => slowMs / fastMs[round]!));
  };
  const hashScaling = ratio('hash 1', 'hash 2');
  const figures: Figure[] = [
    { name: 'oneThreadMBps', value: rate('parse'), unit: 'MB/s' },
    { name: 'allThreadsMBps', value: rate(`parse ${cores}`) * repeats, unit: 'MB/s' },
    { name: 'transactionsPerSecond', value: (content.transactions / ms('parse')) * 1000, unit: '1/s' },
    { name: 'envelopesPerSecond', value: (content.envelopes / ms('parse')) * 1000, unit: '1/s' },
    { name: 'bitcoinjsMBps', value: rate('bitcoinjs'), unit: 'MB/s' },
    { name: 'walkMBps', value: rate('walk'), unit: 'MB/s' },
    { name: 'walkAndHashMBps', value: rate('walkAndHash'), unit: 'MB/s' },
    { name: 'hashScaling', value: hashScaling, unit: 'x' },
  ];
  const details: Figure[] = [
    {
      name: 'parse / walkAndHash',
      value: ms('walkAndHash') / ms('parse'),
      unit: 'x',
      target: { least: 0.7 },
    },
    { name: 'parse / bitcoinjs', value: ratio('bitcoinjs', 'parse'), unit: 'x', target: { least: 7 } },
    {
      name: 'parse, 2 threads / 1',
      value: ratio('parse', 'parse 2') * repeats,
      unit: 'x',
      target: { least: 0.9 * hashScaling },
    },
  ];
  return {
    bench: 'parse',
    notes: [
      `${files.length} blocks of ${values.blocks}, ${megabytes.toFixed(1)} MB: ${content.transactions} transactions, ` +
        `${content.envelopes} envelopes (bitcoinjs-lib's scan: ${envelopesSeen} witness items), ${content.contents} distinct contents`,
      `parsed: everything from a block's bytes to its encoded columns (${(content.columnsBytes / 1e6).toFixed(1)} MB), ` +
        `with spent outputs for ${files.filter((file) => file.spent !== null).length} blocks; ${cores} cores`,
      `medians of ${rounds} rounds in which all variants take turns; blocks are in memory, code is warm (hashed ${hashedByte()})`,
    ],
    figures,
    details,
  };
}

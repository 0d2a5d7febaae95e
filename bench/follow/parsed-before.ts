import { availableParallelism } from 'node:os';
import type { FactSet } from '#indexer/facts/fact.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import type { ParseJobResult } from '#indexer/workers/parse-job.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import { type ParseThreads, startParseThreads } from '#indexer/workers/parse-threads.ts';
import type { BlockSource, BufferPool, SourceBlock } from '#kernel/contracts/block-source.ts';
import { genesisHeight, type Height } from '#kernel/primitives/height.ts';

/** A chain that was already read and parsed, so a follower only has to decide and to write. */
export interface ParsedBefore {
  readonly source: BlockSource;
  /** Replaces the parse threads. Returns the parsed blocks at once. */
  readonly threads: ParseThreads;
  /** Total size of the raw blocks, in bytes. */
  readonly bytes: number;
}

export interface ParseBeforeOptions {
  /** Fingerprint key of the database to which the blocks are written. */
  readonly fingerprintKey: Uint8Array;
  /** Facts that the tables of this database need. */
  readonly facts: FactSet;
}

/** Maximum number of parse jobs, more than an ordinary look-ahead starts. */
const jobsMax = 1000;

/** Reads and parses all blocks of a source. Keeps the results in memory. */
export async function parseBefore(
  source: BlockSource,
  { fingerprintKey, facts }: ParseBeforeOptions,
): Promise<ParsedBefore> {
  const [refs, islands] = await Promise.all([source.refs(), source.islands()]);
  const blocks = new Map<Height, SourceBlock>();
  const results = new Map<Height, ParseJobResult>();
  const threads = startParseThreads({
    count: availableParallelism(),
    isBackground: false,
    queueMax: jobsMax,
  });
  const pool = createParsePool(keptBuffers(), { threads: recording(threads, results), facts });
  const never = new AbortController().signal;
  let bytes = 0;
  try {
    const kept = recordingSource(source, blocks);
    for await (const block of pool.blocks(kept, refs, fingerprintKey, never)) bytes += block.bytes.length;
  } finally {
    await threads.close();
  }
  const { name, network, trusted } = source;
  return {
    bytes,
    source: {
      name,
      network,
      trusted,
      islands: () => Promise.resolve(islands),
      refs: (from = genesisHeight) => Promise.resolve(refs.filter(({ height }) => height >= from)),
      read: ({ height }) => Promise.resolve(known(blocks, height)),
      close: () => Promise.resolve(),
    },
    threads: {
      count: 1,
      run: ({ height }) => Promise.resolve(known(results, height)),
      close: () => Promise.resolve(),
    },
  };
}

/** Makes buffers in the sizes that a follower uses. Each buffer is used only once. */
function keptBuffers(): BufferPool {
  const buffers = createBufferPool();
  return { take: (sizeBytes) => buffers.take(sizeBytes), give: () => undefined };
}

function recordingSource(source: BlockSource, blocks: Map<Height, SourceBlock>): BlockSource {
  return {
    ...source,
    read: async (ref, signal, buffers) => {
      const block = await source.read(ref, signal, buffers);
      blocks.set(ref.height, block);
      return block;
    },
  };
}

function recording(threads: ParseThreads, results: Map<Height, ParseJobResult>): ParseThreads {
  return {
    ...threads,
    run: async (job) => {
      const result = await threads.run(job);
      results.set(job.height, { ...result, columns: result.columns ?? job.into });
      return result;
    },
  };
}

function known<Value>(values: ReadonlyMap<Height, Value>, height: Height): Value {
  const value = values.get(height);
  if (value === undefined) throw new RangeError(`block ${height} was not read before`);
  return value;
}

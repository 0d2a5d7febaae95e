import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises';
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { parseBlock } from '#indexer/parse/parse-block.ts';
import { verifyBlock } from '#indexer/source/verify-block.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { isStatement } from '#kernel/stages/stage-list.ts';
import { StageRecorder, type TraceSink } from '#kernel/stages/stage-recorder.ts';
import { watchStatements } from '#kernel/stages/watch-statements.ts';

/**
 * Time and memory of a stage. `ms` is working time for the main thread and workers, and waiting time for the database.
 */
export interface Stage {
  readonly name: string;
  readonly ms: number;
  /** Allocated JavaScript heap in MB, without the memory of typed arrays; `null` if unknown. */
  readonly allocatedMB: number | null;
}

/**
 * The stage of a function, by the function's file. A function in any other file counts for the stage that called it.
 */
const stageOfFile: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/\/indexer\/ledger\//, 'main: ledger'],
  [/\/(indexer|kernel)\/events\//, 'main: events (texts and hashes)'],
  [
    /\/indexer\/apply\/(block-rows|write-batch)|copy-binary|pg-copy-streams/,
    'main: copy (rows encoded and sent)',
  ],
  [/\/indexer\/apply\//, 'main: apply (ids, held outputs)'],
  [/\/indexer\/source\//, 'main: read'],
  [/\/indexer\/workers\/|\/piscina\/|block-columns/, 'main: workers (messages)'],
  [/\/search\//, 'main: seal'],
  [/\/node_modules\/pg/, 'main: database client'],
];

/**
 * Size of the blocks for which the workers' work is repeated in this thread, in bytes. Workers themselves cannot be
 * profiled.
 */
const repeatedBytes = 200e6;
const sampleEveryMicroseconds = 500;
const sampleEveryBytes = 64 * 1024;

interface CallNode {
  readonly callFrame: { readonly functionName: string; readonly url: string };
}

function stageOf(node: CallNode, inherited: string): string {
  const { functionName, url } = node.callFrame;
  if (functionName === '(idle)') return 'idle';
  if (functionName === '(garbage collector)') return 'main: garbage collector';
  return stageOfFile.find(([pattern]) => pattern.test(url))?.[1] ?? inherited;
}

class Sums {
  readonly #values = new Map<string, number>();

  add(name: string, value: number): void {
    this.#values.set(name, (this.#values.get(name) ?? 0) + value);
  }

  get(name: string): number | undefined {
    return this.#values.get(name);
  }

  names(): string[] {
    return [...this.#values.keys()];
  }
}

function workByStage({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Sums {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stages = new Map<number, string>();
  const visit = (node: Profiler.ProfileNode, inherited: string): void => {
    const stage = stageOf(node, inherited);
    stages.set(node.id, stage);
    for (const child of node.children ?? []) visit(byId.get(child) as Profiler.ProfileNode, stage);
  };
  visit(nodes[0] as Profiler.ProfileNode, 'main: other');
  const sums = new Sums();
  samples.forEach((id, index) => sums.add(stages.get(id) ?? 'main: other', (timeDeltas[index] ?? 0) / 1000));
  return sums;
}

function allocatedByStage({ head }: HeapProfiler.SamplingHeapProfile): Sums {
  const sums = new Sums();
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, inherited: string): void => {
    const stage = stageOf(node, inherited);
    sums.add(stage, node.selfSize / 1e6);
    for (const child of node.children) visit(child, stage);
  };
  visit(head, 'main: other');
  return sums;
}

/** A trace that keeps no events, because only the sums are needed. */
const noTrace: TraceSink = { event: () => undefined, close: () => undefined };

/** Profiles a run of this thread. Afterwards it repeats the workers' work in this thread. */
export class StageProfile {
  readonly #session = new Session();
  /** Recorder of the writer and the sealer. It has the times of statements, and the waiting time of each stage. */
  readonly stages = new StageRecorder(noTrace);

  static async start(pool: pg.Pool): Promise<StageProfile> {
    const recorder = new StageProfile();
    watchStatements(pool, recorder.stages, true);
    recorder.#session.connect();
    await recorder.#session.post('Profiler.enable');
    await recorder.#session.post('Profiler.setSamplingInterval', { interval: sampleEveryMicroseconds });
    await recorder.#startSampling();
    await recorder.#session.post('Profiler.start');
    return recorder;
  }

  /** Ends the profile. Returns the stages of the run, which indexed this many bytes of blocks. */
  async stop(source: BlockSource, bytes: number): Promise<Stage[]> {
    const statements = (this.stages.end()?.rows ?? []).filter(({ stage }) => isStatement(stage));
    const work = workByStage((await this.#session.post('Profiler.stop')).profile);
    const allocated = await this.#stopSampling();
    const mainNames = [...new Set([...work.names(), ...allocated.names()])].filter((name) => name !== 'idle');
    const main = mainNames.map((name) => ({
      name,
      ms: work.get(name) ?? 0,
      allocatedMB: allocated.get(name) ?? 0,
    }));
    const waited = statements.map(({ stage, ms }) => ({ name: `wait: ${stage}`, ms, allocatedMB: null }));
    const workers = await this.#repeatWorkers(source, bytes);
    this.#session.disconnect();
    return [...workers, ...main, ...waited];
  }

  async #startSampling(): Promise<void> {
    await this.#session.post('HeapProfiler.startSampling', {
      samplingInterval: sampleEveryBytes,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  }

  async #stopSampling(): Promise<Sums> {
    return allocatedByStage((await this.#session.post('HeapProfiler.stopSampling')).profile);
  }

  async #repeatWorkers(source: BlockSource, bytes: number): Promise<Stage[]> {
    const fingerprintKey = Buffer.alloc(32, 7);
    const blocks: Awaited<ReturnType<BlockSource['read']>>[] = [];
    const stages: Stage[] = [];
    const measure = async (name: string, work: () => void | Promise<void>): Promise<void> => {
      await this.#startSampling();
      const start = performance.now();
      await work();
      const ms = performance.now() - start;
      const sums = await this.#stopSampling();
      const allocatedMB = sums.names().reduce((sum, each) => sum + (sums.get(each) ?? 0), 0);
      const scale = bytes / blocks.reduce((sum, block) => sum + block.bytes.length, 0);
      stages.push({ name, ms: ms * scale, allocatedMB: allocatedMB * scale });
    };
    await measure('read: files', async () => {
      let left = Math.min(bytes, repeatedBytes);
      for (const ref of await source.refs()) {
        if (left <= 0) break;
        const block = await source.read(ref);
        blocks.push(block);
        left -= block.bytes.length;
      }
    });
    await measure('worker: verify', () => {
      for (const { ref, bytes: block } of blocks) verifyBlock(block, { ...ref, network: source.network });
    });
    await measure('worker: parse', () => {
      for (const { bytes: block, spentOutputs } of blocks)
        parseBlock(block, { spent: spentOutputs, fingerprintKey });
    });
    return stages;
  }
}

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BatchCounts,
  type Failpoint,
  failpoints,
  isOverlapped,
  type Seam,
  seams,
} from '#kernel/process/failpoint.ts';
import { type Armed, type IndexerEnd, type IndexerOptions, IndexerProcess } from './indexer-process.ts';

const startAgainMs = 200;
const lookEveryMs = 20;
/**
 * Error codes with which a start without a database ends. The service manager then starts the process again
 * (docs/errors.md).
 */
const startFailures: ReadonlySet<string> = new Set(['postgres_unreachable', 'postgres_lost']);

/** Keeps one indexer running, like a service manager. The indexer is restarted after any end. */
export class Supervisor {
  readonly hits = new Map<Failpoint, number>(failpoints.map((name) => [name, 0]));
  /** Number of kills while the next batch was decided, by seam. */
  readonly overlaps = new Map<Seam, number>(seams.map((name) => [name, 0]));
  kills = 0;
  /** Unexpected ends, which came neither from our signals nor from a failpoint. */
  readonly exits: string[] = [];
  /** Number of starts that failed while the database was away. */
  failedStarts = 0;
  readonly #options: IndexerOptions;
  #current: IndexerProcess | null = null;
  /** Failpoints for the next starts. Each start uses one of them. */
  readonly #armed: Armed[];
  #stopped = false;
  readonly #loop: Promise<void>;

  constructor(options: IndexerOptions, armed: readonly Armed[] = []) {
    this.#options = options;
    this.#armed = [...armed];
    this.#loop = this.#run();
  }

  /** Kills the process, and arms the next process with this failpoint. */
  async kill(armed: Armed | null = null): Promise<void> {
    this.#arm(armed);
    const ended = await this.#current?.kill();
    if (ended?.signal === 'SIGKILL') this.kills++;
  }

  /** Ends the process in order, and arms the next process with this failpoint. */
  async restart(armed: Armed | null = null): Promise<void> {
    this.#arm(armed);
    await this.#current?.stop();
  }

  /** Ends the process in order, and starts no other process. */
  async stop(): Promise<IndexerEnd | null> {
    this.#stopped = true;
    const ended = (await this.#current?.stop()) ?? null;
    await this.#loop;
    return ended;
  }

  /** Keeps the process stopped while the work runs, and arms the next process with this failpoint. */
  async without(work: () => Promise<void>, armed: Armed | null = null): Promise<void> {
    this.#arm(armed);
    let release = (): void => undefined;
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    await this.#current?.stop();
    try {
      await work();
    } finally {
      release();
    }
  }

  /** Waits until the process is held at its seam. `null` if this does not happen within the time. */
  async held(withinMs: number): Promise<BatchCounts | null> {
    for (const until = Date.now() + withinMs; Date.now() < until; await delay(lookEveryMs)) {
      const batches = this.#current?.batchesAtSeam() ?? null;
      if (batches !== null) return batches;
    }
    return null;
  }

  /** Lets the process continue from its seam. */
  resume(): void {
    this.#current?.resume();
  }

  /** Adds the overlaps of another process. */
  addOverlaps({ overlaps }: Supervisor): void {
    for (const [name, times] of overlaps) this.overlaps.set(name, (this.overlaps.get(name) ?? 0) + times);
  }

  #held: Promise<void> = Promise.resolve();

  #arm(armed: Armed | null): void {
    this.#armed.splice(0, this.#armed.length, ...(armed === null ? [] : [armed]));
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#held;
      this.#current = new IndexerProcess(this.#options, this.#armed.shift() ?? null);
      const ended = await this.#current.ended;
      // reports of the ended process, for example that it was held, do not concern the next process
      this.#current = null;
      this.#note(ended);
      if (!this.#stopped) await delay(startAgainMs);
    }
  }

  #note(ended: IndexerEnd): void {
    const { exitCode, signal, wanted, code } = ended;
    if (wanted || (signal === 'SIGKILL' && this.#isAimed(ended))) return;
    if (code !== null && startFailures.has(code)) {
      this.failedStarts++;
      return;
    }
    const words = `ended by itself: code ${String(exitCode)}, signal ${String(signal)}, error ${code ?? 'unknown'}`;
    this.exits.push(words);
    appendFileSync(join(this.#options.folder, `${this.#options.name}.log`), `--- ${words}\n`);
  }

  /** Counts a kill if the process was armed to kill itself. */
  #isAimed({ armed, batches }: IndexerEnd): boolean {
    if (armed?.how === 'at once') {
      this.hits.set(armed.name, (this.hits.get(armed.name) ?? 0) + 1);
      return true;
    }
    if (armed?.how !== 'overlapped' || batches === null || !isOverlapped(armed.name, batches)) return false;
    this.overlaps.set(armed.name, (this.overlaps.get(armed.name) ?? 0) + 1);
    return true;
  }
}

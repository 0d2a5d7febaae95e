import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Failpoint, failpoints } from '#kernel/failpoint.ts';
import { type IndexerEnd, type IndexerOptions, IndexerProcess } from './indexer-process.ts';

export interface Armed {
  readonly name: Failpoint;
  readonly passes: number;
}

const startAgainMs = 200;
/** A start without a database ends with the reason, and the service manager starts it again (docs/errors.md). */
const startFailures: ReadonlySet<string> = new Set(['postgres_unreachable', 'postgres_lost']);

/** Keeps one indexer running, as a service manager does: it is restarted however it ends. */
export class Supervisor {
  readonly hits = new Map<Failpoint, number>(failpoints.map((name) => [name, 0]));
  kills = 0;
  /** Unexpected ends: without our signal or a failpoint. */
  readonly exits: string[] = [];
  /** Starts while the database was away. */
  failedStarts = 0;
  readonly #options: IndexerOptions;
  #current: IndexerProcess | null = null;
  #armed: Armed | null = null;
  #stopped = false;
  readonly #loop: Promise<void>;

  constructor(options: IndexerOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Kills the process; arms the next one with this. */
  async kill(armed: Armed | null = null): Promise<void> {
    this.#armed = armed;
    const ended = await this.#current?.kill();
    if (ended?.signal === 'SIGKILL') this.kills++;
  }

  /** Ends the process in order; arms the next one with this. */
  async restart(armed: Armed | null = null): Promise<void> {
    this.#armed = armed;
    await this.#current?.stop();
  }

  /** Ends it in order, without a successor. */
  async stop(): Promise<IndexerEnd | null> {
    this.#stopped = true;
    const ended = (await this.#current?.stop()) ?? null;
    await this.#loop;
    return ended;
  }

  /** Keeps it stopped while the work runs. */
  async without(work: () => Promise<void>): Promise<void> {
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

  #held: Promise<void> = Promise.resolve();

  async #run(): Promise<void> {
    while (!this.#stopped) {
      await this.#held;
      const armed = this.#armed;
      this.#armed = null;
      this.#current = new IndexerProcess(this.#options, armed);
      const ended = await this.#current.ended;
      this.#note(ended);
      if (!this.#stopped) await delay(startAgainMs);
    }
  }

  #note({ exitCode, signal, wanted, failpoint, code }: IndexerEnd): void {
    if (wanted) return;
    if (code !== null && startFailures.has(code)) {
      this.failedStarts++;
      return;
    }
    if (signal === 'SIGKILL' && failpoint !== null) {
      this.hits.set(failpoint, (this.hits.get(failpoint) ?? 0) + 1);
      return;
    }
    const words = `ended by itself: code ${String(exitCode)}, signal ${String(signal)}, error ${code ?? 'unknown'}`;
    this.exits.push(words);
    appendFileSync(join(this.#options.folder, `${this.#options.name}.log`), `--- ${words}\n`);
  }
}

import { Piscina } from 'piscina';
import type { BodyTask } from './body.worker.ts';
import type { ParsedBody } from './parse-body.ts';

/**
 * Maximum number of bodies that wait for the thread. This number is never reached, because each large body has more
 * than a mebibyte and `limits.bodyRoom` admits fewer.
 */
const waitingMax = 256;
/** How long the thread waits for work before it ends, in ms. Orders come in bursts. */
const idleMs = 30_000;
/** Parses large bodies, one after another, in its own thread. The thread starts with the first body. */
export class LargeBodyParser {
  readonly #workers = new Piscina<BodyTask, ParsedBody>({
    filename: new URL('./body.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
  });

  /** Parses a body. Its blocks are transferred, so the caller can no longer use them. */
  parse(task: BodyTask): Promise<ParsedBody> {
    return this.#workers.run(task, { transferList: task.blocks.map(({ buffer }) => buffer) });
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }
}

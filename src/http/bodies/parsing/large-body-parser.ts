import { Piscina } from 'piscina';
import type { BodyTask } from './body.worker.ts';
import type { ParsedBody } from './parse-body.ts';

/** Above the number of large bodies that the room admits: each has more than a mebibyte. */
const waitingMax = 256;
/** The thread ends after this time without work: orders come in bursts. */
const idleMs = 30_000;
/** Parses large bodies one after the other in its own thread, which starts with the first body. */
export class LargeBodyParser {
  readonly #workers = new Piscina<BodyTask, ParsedBody>({
    filename: new URL('./body.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
  });

  /** The blocks are transferred: the caller can no longer use them. */
  parse(task: BodyTask): Promise<ParsedBody> {
    return this.#workers.run(task, { transferList: task.blocks.map(({ buffer }) => buffer) });
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }
}

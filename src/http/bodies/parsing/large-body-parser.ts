import { Piscina } from 'piscina';
import type { BodyTask } from './body.worker.ts';
import type { ParsedBody } from './parse-body.ts';

/** Bodies that may wait: more than the room admits, because each has more than a mebibyte. */
const waitingMax = 256;
/** Time without work after which the thread ends: orders come in bursts. */
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

  /** Parses a body. Its blocks are transferred: the caller can no longer use them. */
  parse(task: BodyTask): Promise<ParsedBody> {
    return this.#workers.run(task, { transferList: task.blocks.map(({ buffer }) => buffer) });
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }
}

import { Piscina } from 'piscina';
import type { AnswerKind, AnswerTask, ReadAnswer } from './large-answers.ts';

/** Maximum number of waiting answers. Eight connections request no more at once. */
const waitingMax = 64;
const maxYoungGenerationSizeMb = 8;
/** How long the thread lives without work, in ms. It stays alive between two snapshots of a polled mempool. */
const idleMs = 30_000;

/**
 * Parses long answers of a node in a thread of its own, started with the first answer: `getblock 3` of a full block
 * takes a third of a second, in which the serving thread would answer no requests.
 */
export class AnswerReader {
  readonly #workers = new Piscina<AnswerTask, ReadAnswer>({
    filename: new URL('./answer.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
    // parsed data is large and short-lived: by default a thread collects 48 MB of it before it looks for garbage
    resourceLimits: { maxYoungGenerationSizeMb },
  });

  /** The bytes are transferred, so they are gone here, except those in shared memory. */
  async read<Kind extends AnswerKind>(kind: Kind, bytes: Uint8Array): Promise<ReadAnswer<Kind>> {
    const transferList = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    return (await this.#workers.run({ kind, bytes }, { transferList })) as ReadAnswer<Kind>;
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }
}

import { Piscina } from 'piscina';
import type { AnswerKind, AnswerTask, ReadAnswer } from './large-answers.ts';

/** Maximum number of answers that wait to be parsed. Eight connections do not request more answers at once. */
const waitingMax = 64;
const maxYoungGenerationSizeMb = 8;
/**
 * How long the thread stays alive without work, in ms. It is longer than the time between two snapshots of a polled
 * mempool.
 */
const idleMs = 30_000;

/**
 * Parses long answers of a node in a separate thread, which starts with the first answer. Parsing `getblock 3` of a
 * full block takes a third of a second. In that time, the serving thread could not respond to requests.
 */
export class AnswerReader {
  readonly #workers = new Piscina<AnswerTask, ReadAnswer>({
    filename: new URL('./answer.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
    // parsed data is large and short-lived; by default, a thread would collect 48 MB before it removes garbage
    resourceLimits: { maxYoungGenerationSizeMb },
  });

  /**
   * Parses an answer. The bytes are transferred to the thread, so the caller loses them, unless they are in shared
   * memory.
   */
  async read<Kind extends AnswerKind>(kind: Kind, bytes: Uint8Array): Promise<ReadAnswer<Kind>> {
    const transferList = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    return (await this.#workers.run({ kind, bytes }, { transferList })) as ReadAnswer<Kind>;
  }

  close(): Promise<void> {
    return this.#workers.destroy();
  }
}

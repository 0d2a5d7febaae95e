import { Piscina } from 'piscina';
import type { AnswerKind, AnswerTask, ReadAnswer } from './large-answers.ts';

/** Answers that are read by turns: as many as are asked for at once elsewhere (eight connections). */
const waitingMax = 64;
const maxYoungGenerationSizeMb = 8;
/** The thread goes when nothing was read for so long: between two snapshots of a mempool that is polled it stays. */
const idleMs = 30_000;

/**
 * Reads long answers of a node in a thread of its own: `getblock 3` of a full block takes a third of a second, in which the thread that
 * serves would answer nobody. It begins with the first answer.
 */
export class AnswerReader {
  private readonly workers = new Piscina<AnswerTask, ReadAnswer>({
    filename: new URL('./answer.worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: waitingMax,
    idleTimeout: idleMs,
    // what is parsed is large and short-lived: by default a thread keeps 48 MB of it before it looks what is garbage
    resourceLimits: { maxYoungGenerationSizeMb },
  });

  /** The bytes are transferred: they are gone here. */
  async read<Kind extends AnswerKind>(kind: Kind, bytes: Uint8Array<ArrayBuffer>): Promise<ReadAnswer<Kind>> {
    return (await this.workers.run({ kind, bytes }, { transferList: [bytes.buffer] })) as ReadAnswer<Kind>;
  }

  close(): Promise<void> {
    return this.workers.destroy();
  }
}

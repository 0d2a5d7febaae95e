import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { type IsMeant, Laps, mainTrack, readerTrack, stageClock, writerTrack } from '#kernel/stages/span.ts';
import { isStatement } from '#kernel/stages/stage-list.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';

const isReader: IsMeant = ({ track }) => track === readerTrack;
/**
 * Whether a stage is work of the main thread. Its wait for a batch is not: the answers of that batch are not read yet.
 */
const isMain: IsMeant = ({ track, stage }) => track === mainTrack && stage !== 'write';
const isWritersStatement: IsMeant = ({ track, stage }) => track === writerTrack && isStatement(stage);

/**
 * Records the work and the waits of a writer, on the main thread and on its connections. Does nothing without a
 * recorder.
 */
export class WriterStages {
  readonly #recorder: StageRecorder | null;
  /** Time when the last batch was written. Null if another batch has begun since. */
  #writtenAt: number | null = null;

  constructor(recorder: StageRecorder | null) {
    this.#recorder = recorder;
  }

  /** Records the time in which the main thread queries the database about blocks. */
  async asking<T>(blocks: readonly ParsedBlock[], ask: () => Promise<T>): Promise<T> {
    const from = stageClock();
    const answer = await ask();
    this.#mainWaited(from, [isReader], 'questions', blocks);
    return answer;
  }

  /** Records the time in which the main thread applies a block. `from` is when it began to wait for its turn. */
  deciding({ ref }: ParsedBlock, from: number, decide: (laps?: Laps) => void): void {
    const recorder = this.#recorder;
    if (recorder === null) {
      decide();
      return;
    }
    this.#mainWaited(from, [], 'searches', []);
    const laps = new Laps(recorder.isDetailed);
    decide(laps);
    recorder.laps(laps, mainTrack, { height: ref.height });
  }

  /** Records the time in which the main thread completes a batch. */
  ending(end: () => void): void {
    const laps = this.#recorder === null ? null : new Laps(this.#recorder.isDetailed);
    end();
    laps?.lap('encode');
    if (laps !== null) this.#recorder?.laps(laps, mainTrack);
  }

  /** Records the time in which the main thread waits for the previous batch. */
  async writeAwaited(writing: Promise<void>): Promise<void> {
    const from = stageClock();
    await writing;
    this.#mainWaited(from, [isWritersStatement], 'write', []);
  }

  /** Records the write of a batch. */
  async write<T>(heights: string, bytes: number, write: () => Promise<T>): Promise<T> {
    const from = stageClock();
    if (this.#writtenAt !== null) {
      const wait = { stage: 'write', track: writerTrack, from: this.#writtenAt, to: from, heights };
      this.#recorder?.waited({ ...wait, on: [isMain], otherwise: 'ledger' });
    }
    const written = await write();
    this.#writtenAt = stageClock();
    const span = { stage: 'write', track: writerTrack, from, to: this.#writtenAt, cpuMs: null };
    this.#recorder?.span({ ...span, heights, bytes });
    return written;
  }

  /** Records that no batch follows immediately. */
  finished(): void {
    this.#writtenAt = null;
  }

  #mainWaited(from: number, on: readonly IsMeant[], otherwise: string, blocks: readonly ParsedBlock[]): void {
    const heights = `${blocks[0]?.ref.height ?? ''}-${blocks.at(-1)?.ref.height ?? ''}`;
    const wait = { stage: 'ledger', track: mainTrack, from, to: stageClock(), on, otherwise };
    this.#recorder?.waited(blocks.length === 0 ? wait : { ...wait, heights });
  }
}

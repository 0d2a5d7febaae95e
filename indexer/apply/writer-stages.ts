import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import { type IsMeant, Laps, mainTrack, readerTrack, stageClock, writerTrack } from '#kernel/stages/span.ts';
import { isStatement } from '#kernel/stages/stage-list.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';

const isReader: IsMeant = ({ track }) => track === readerTrack;
/** Whether a stage is work of the main thread, not its wait for a batch whose answers it has not read yet. */
const isMain: IsMeant = ({ track, stage }) => track === mainTrack && stage !== 'write';
const isWritersStatement: IsMeant = ({ track, stage }) => track === writerTrack && isStatement(stage);

/** Records a writer's work and waits, on the main thread and on its connections, if there is a recorder. */
export class WriterStages {
  readonly #recorder: StageRecorder | null;
  /** Time at which the last batch was written, if no other has come since. */
  #writtenAt: number | null = null;

  constructor(recorder: StageRecorder | null) {
    this.#recorder = recorder;
  }

  /** Records that the main thread asks the database about blocks. */
  async asking<T>(blocks: readonly ParsedBlock[], ask: () => Promise<T>): Promise<T> {
    const from = stageClock();
    const answer = await ask();
    this.#mainWaited(from, [isReader], 'questions', blocks);
    return answer;
  }

  /** Records that the main thread applies a block, after it has waited for its turn since `from`. */
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

  /** Records that the main thread completes a batch. */
  ending(end: () => void): void {
    const laps = this.#recorder === null ? null : new Laps(this.#recorder.isDetailed);
    end();
    laps?.lap('encode');
    if (laps !== null) this.#recorder?.laps(laps, mainTrack);
  }

  /** Records that the main thread waits for the batch before this one. */
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

  /** Records that no batch follows at once. */
  finished(): void {
    this.#writtenAt = null;
  }

  #mainWaited(from: number, on: readonly IsMeant[], otherwise: string, blocks: readonly ParsedBlock[]): void {
    const heights = `${blocks[0]?.ref.height ?? ''}-${blocks.at(-1)?.ref.height ?? ''}`;
    const wait = { stage: 'ledger', track: mainTrack, from, to: stageClock(), on, otherwise };
    this.#recorder?.waited(blocks.length === 0 ? wait : { ...wait, heights });
  }
}

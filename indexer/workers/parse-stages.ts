import type { BlockRef, SourceBlock } from '#kernel/contracts/block-source.ts';
import { type IsMeant, mainTrack, stageClock } from '#kernel/stages/span.ts';
import { workerMessages } from '#kernel/stages/stage-list.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import type { ParseJobResult } from './parse-job.ts';

const isFetch: IsMeant = ({ stage }) => stage === 'fetch';
const isMain: IsMeant = ({ track }) => track === mainTrack;

/** Records a pool's work on blocks and its waits. Does nothing without a recorder. */
export class ParseStages {
  readonly #recorder: StageRecorder | null;
  #fetching = 0;
  /** Time when the last read ended. Null if another read has begun since. */
  #fetchedAt: number | null = null;
  /** Keyed by thread: the time when its last block ended. */
  readonly #threads = new Map<number, number>();

  constructor(recorder: StageRecorder | null) {
    this.#recorder = recorder;
  }

  get isDetailed(): boolean {
    return this.#recorder?.isDetailed === true;
  }

  /** Records the read of a block from its source. */
  async fetch(ref: BlockRef, read: () => Promise<SourceBlock>): Promise<SourceBlock> {
    const recorder = this.#recorder;
    if (recorder === null) return read();
    const from = stageClock();
    const { height } = ref;
    const { track, free } = recorder.takeTrack('fetch');
    if (this.#fetching++ === 0 && this.#fetchedAt !== null) {
      // the look-ahead was full, so nothing could be read
      const wait = { stage: 'fetch', track, from: this.#fetchedAt, to: from, height };
      recorder.waited({ ...wait, on: [isMain], otherwise: 'parse' });
    }
    try {
      const block = await read();
      const bytes = block.bytes.length + (block.spentOutputs?.length ?? 0);
      recorder.span({ stage: 'fetch', track, from, to: stageClock(), cpuMs: null, height, bytes });
      return block;
    } finally {
      free();
      if (--this.#fetching === 0) this.#fetchedAt = stageClock();
    }
  }

  /** Records that a block goes to the threads. Call the returned function with their result. */
  parsing({ height }: BlockRef, bytes: number): (result: ParseJobResult) => void {
    const recorder = this.#recorder;
    if (recorder === null) return () => undefined;
    const from = stageClock();
    const slot = this.isDetailed ? null : recorder.takeTrack('parsing');
    return ({ times }) => {
      slot?.free();
      if (times === undefined) {
        const track = slot?.track ?? 'parsing';
        recorder.span({ stage: 'parse', track, from, to: stageClock(), cpuMs: null, height, bytes });
        return;
      }
      const { thread, spans } = times;
      const track = `parser ${thread}`;
      const [first] = spans;
      const endedAt = this.#threads.get(thread);
      this.#threads.set(thread, spans.at(-1)?.to ?? from);
      if (endedAt !== undefined && first !== undefined) {
        const wait = { stage: 'parse', track, from: endedAt, to: first.from, height };
        recorder.waited({ ...wait, on: [isFetch, isMain], otherwise: workerMessages });
      }
      recorder.laps({ spans }, track, { height });
    };
  }

  /** Records that the main thread waits for a block. Call the returned function once it has the block. */
  blockWaited({ height }: BlockRef): () => void {
    const from = stageClock();
    const isOfBlock: IsMeant = (span) => span.height === height && span.track !== mainTrack;
    return () =>
      this.#recorder?.waited({
        stage: 'ledger',
        track: mainTrack,
        from,
        to: stageClock(),
        height,
        on: [isOfBlock],
        otherwise: workerMessages,
      });
  }
}

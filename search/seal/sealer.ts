import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Piscina } from 'piscina';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import { windowIds as windowIdsMax } from '#search/segments/postings-layout.ts';
import type { SealBounds, TextSealBounds } from '#search/segments/segment-table.ts';
import { type NextIds, readSealState, type SealState, type SegmentKind } from '#search/segments/segments.ts';
import type { SealResult, SealTask } from './seal.worker.ts';
import { areColumnsDue, sealColumns } from './seal-columns.ts';
import { areTextsDue, type SealOutcome, type SealPolicy, type SealWorker, sealTexts } from './seal-texts.ts';
import { UnsealedBytes } from './unsealed-bytes.ts';

export interface SealerOptions {
  /** Pool of connections without a statement timeout. At most one connection is used at a time. */
  readonly pool: pg.Pool;
  /**
   * Searches, which have precedence over sealing. During a load, sealing keeps the part that they must scan small.
   * Absent: this process answers no searches.
   */
  readonly demand?: SearchDemand;
  /** Records the time of the worker. */
  readonly stages?: StageRecorder;
  /** Called with errors in `run`. `run` continues after them. */
  readonly onError?: (error: unknown) => void;
  /** Smaller bounds, used by tests. Windows must be multiples of 8. */
  readonly bounds?: Partial<SealerBounds>;
}

export interface SealerBounds {
  /** Maximum number of texts per segment. */
  readonly windowIds: number;
  /** Maximum number of keys per segment of inscription columns, and of contents per segment of lengths. */
  readonly windowKeys: number;
  /** Maximum bytes of text per segment. */
  readonly segmentTextBytesMax: number;
  /** Minimum number of texts of a segment that a gram of a passage has. */
  readonly frequentMin: number;
}

export interface SealSummary {
  /** Number of segments written. */
  readonly segments: number;
}

/** Seals committed rows into segments of the search index, in the background and in a worker. */
export interface Sealer {
  /** Seals all committed rows, at the end of a bulk load. Stops early if the signal is aborted. */
  sealPending(signal: AbortSignal): Promise<SealSummary>;
  /** Keeps the unsealed part, which every search must scan, below its limits until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const usualBounds: SealerBounds = {
  windowIds: windowIdsMax,
  // one column has 256 kB, because searches with many matches load a column at once
  windowKeys: 65_536,
  // texts are sent to the worker in one buffer: 4 to 12 MB for a window of small inscriptions
  segmentTextBytesMax: 32 * 1024 * 1024,
  // fewer texts are read in some tenths of a millisecond
  frequentMin: 256,
};

/**
 * Maximum number of unsealed texts, and of their bytes, that each search must scan (some 3 ms). Texts of the last
 * second are not included. During a bulk load, up to a window is left unsealed.
 */
const tailTextsMax = 4096;
const tailBytesMax = 2 * 1024 * 1024;
/** Maximum number of unsealed inscriptions that a search with many matches must scan: some 5 ms. */
const tailKeysMax = 8192;
/** How often to check for unsealed rows, in ms. A check costs four small queries. */
const lookEveryMs = 1000;
/**
 * How often to check during searches, in ms. Within tenths of a second, a load adds as many texts as a search may scan.
 */
const searchedLookEveryMs = 200;
/** How long the worker's thread lives without work, in ms. */
const workerIdleMs = 30_000;

const kinds: readonly SegmentKind[] = ['content', 'metadata', 'inscriptions', 'lengths'];
const everything: SealPolicy = { partial: true, idsAbove: 0, bytesAbove: 0 };

/** The thread that builds postings. */
function openWorker(stages: StageRecorder | undefined): {
  readonly worker: SealWorker;
  readonly close: () => Promise<void>;
} {
  const workers = new Piscina<SealTask, SealResult>({
    filename: new URL('./seal.worker.ts', import.meta.url).href,
    minThreads: 0,
    // one thread, because one segment is made at a time
    maxThreads: 1,
    idleTimeout: workerIdleMs,
  });
  return {
    worker: async (task) => {
      const bytes = task.copy.length;
      const made = await workers.run(task, { transferList: [task.copy.buffer] });
      stages?.laps(made, 'sealer', { bytes });
      return made;
    },
    close: () => workers.destroy(),
  };
}

interface KindSealer {
  /**
   * Seals one range after another of a kind, beginning with a known state, until the policy finds no range. If there is
   * a load, sealing and the load take turns. Returns the number of written segments.
   */
  (
    kind: SegmentKind,
    policy: SealPolicy,
    state: SealState,
    signal: AbortSignal,
    turns?: boolean,
  ): Promise<number>;
}

function kindSealer(
  pool: pg.Pool,
  worker: SealWorker,
  bounds: SealerBounds,
  demand: SearchDemand | undefined,
): KindSealer {
  const { segmentTextBytesMax, frequentMin } = bounds;
  const textBounds: TextSealBounds = { windowIds: bounds.windowIds, segmentTextBytesMax, frequentMin };
  const keyBounds: SealBounds = { windowIds: bounds.windowKeys, segmentTextBytesMax };
  const unsealed = new UnsealedBytes();

  const sealNext = (kind: SegmentKind, policy: SealPolicy): Promise<SealOutcome> =>
    kind === 'inscriptions' || kind === 'lengths'
      ? sealColumns(pool, kind, keyBounds, policy)
      : sealTexts(pool, worker, kind, textBounds, policy, unsealed);

  // called much more often than a segment is due, so it uses no transaction
  const isDue = async (kind: SegmentKind, policy: SealPolicy, state: SealState): Promise<boolean> =>
    kind === 'inscriptions' || kind === 'lengths'
      ? areColumnsDue(kind, keyBounds, policy, state)
      : areTextsDue(pool, kind, textBounds, policy, unsealed, state);

  return async (kind, policy, before, signal, turns = false) => {
    let segments = 0;
    let state = before;
    while (!signal.aborted && (await isDue(kind, policy, state))) {
      const seal = (): Promise<SealOutcome> => sealNext(kind, policy);
      const outcome = await (turns && demand !== undefined ? demand.turn(seal) : seal());
      if (outcome === 'nothing') break;
      if (outcome === 'sealed') segments++;
      state = await readSealState(pool);
    }
    return segments;
  };
}

/**
 * Creates a sealer. It may run at the same time as a writer, an undo and other sealers. If a segment no longer fits
 * when it is about to be written, it is dropped and made again.
 */
export function createSealer({ pool, demand, stages, onError, bounds }: SealerOptions): Sealer {
  const { worker, close } = openWorker(stages);
  const sealKind = kindSealer(pool, worker, { ...usualBounds, ...bounds }, demand);

  /**
   * Checks once. If a bulk load adds more between two checks than may stay unsealed, only full windows are sealed.
   * During searches a window is sealed two or three times before it is full, so that searches scan less.
   */
  const look = async (before: NextIds | null, signal: AbortSignal): Promise<NextIds> => {
    const state = await readSealState(pool);
    const { next } = state;
    for (const kind of kinds) {
      const idsAbove = kind === 'inscriptions' || kind === 'lengths' ? tailKeysMax : tailTextsMax;
      const isSteady = before !== null && next[kind] - before[kind] <= idsAbove;
      const partial = isSteady || demand?.isRecent === true;
      await sealKind(kind, { partial, idsAbove, bytesAbove: tailBytesMax }, state, signal, !isSteady);
    }
    return next;
  };

  // run one after another: of two concurrent works, one would make the last segment in vain
  let last: Promise<unknown> = Promise.resolve();
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const own = last.then(work);
    last = own.catch(() => undefined);
    return own;
  };

  const pauseMs = (): number => (demand?.isRecent === true ? searchedLookEveryMs : lookEveryMs);

  return {
    sealPending: (signal) =>
      alone(async () => {
        let segments = 0;
        const state = await readSealState(pool);
        for (const kind of kinds) segments += await sealKind(kind, everything, state, signal);
        return { segments };
      }),
    run: async (signal) => {
      let before: NextIds | null = null;
      while (!signal.aborted) {
        try {
          before = await alone(() => look(before, signal));
        } catch (error) {
          onError?.(error);
        }
        await delay(pauseMs(), undefined, { signal }).catch(() => undefined);
      }
    },
    close,
  };
}

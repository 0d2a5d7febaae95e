/** Maximum number of samples: one for each minute of a day. They need less than 300 kB. */
export const samplesMax = 1440;
export const sampleEveryMs = 60_000;

/**
 * State of the index and the mempool at a moment. A field is null if it is unknown because the database did not answer.
 */
export interface Standpoint {
  readonly height: number | null;
  /** Number of blocks of the source that are not indexed. */
  readonly lagBlocks: number | null;
  /** Number of transactions in the mempool. */
  readonly mempool: number | null;
}

/** A sample of one minute of this process. */
export interface MinuteSample extends Standpoint {
  /** End of the minute, in Unix seconds. */
  readonly time: number;
  /**
   * Number of requests that were answered in the minute. It includes searches; `searches` is the number of searches
   * alone.
   */
  readonly requests: number;
  readonly searches: number;
  /** Time within which 95 % of the requests were answered, in ms. `null` if there were no requests. */
  readonly p95Ms: number | null;
}

/**
 * Upper bounds of the classes of durations, in ms. Each is 20 % above the previous bound, from 0.1 ms to 60 s. The 95th
 * percentile is therefore wrong by at most 20 %, and a minute needs 75 counters for any number of requests.
 */
const ends = Array.from({ length: 74 }, (_, place) => 0.1 * 1.2 ** place);
const share = 0.95;

/** Samples of the last day, one per minute, in memory. `/metrics` gives operators a longer history. */
export class DaySamples {
  readonly #read: () => Promise<Standpoint>;
  readonly #now: () => number;
  readonly #samples: MinuteSample[] = [];
  #counts: number[] = noCounts();
  #requests = 0;
  #searches = 0;

  /**
   * Starts without samples.
   *
   * @param read rejects if the database does not answer
   * @param now returns the current time in Unix milliseconds
   */
  constructor(read: () => Promise<Standpoint>, now: () => number = Date.now) {
    this.#read = read;
    this.#now = now;
  }

  /** Counts a request that was answered. */
  count(milliseconds: number, isSearch: boolean): void {
    const place = ends.findIndex((end) => milliseconds <= end);
    const at = place === -1 ? ends.length : place;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#requests += 1;
    if (isSearch) this.#searches += 1;
  }

  /** Ends the current minute, and stores its sample. */
  async take(): Promise<void> {
    const [counts, requests, searches] = [this.#counts, this.#requests, this.#searches];
    this.#counts = noCounts();
    this.#requests = 0;
    this.#searches = 0;
    const standpoint = await this.#read().catch(() => unknown);
    const time = Math.floor(this.#now() / 1000);
    this.#samples.push({ time, ...standpoint, requests, searches, p95Ms: percentile(counts, requests) });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** Samples, oldest first. */
  get samples(): readonly MinuteSample[] {
    return this.#samples;
  }
}

const unknown: Standpoint = { height: null, lagBlocks: null, mempool: null };
const noCounts = (): number[] => Array.from({ length: ends.length + 1 }, () => 0);

/** The upper bound of the class that contains the percentile. `null` if there were no requests. */
function percentile(counts: readonly number[], total: number): number | null {
  if (total === 0) return null;
  let seen = 0;
  for (const [place, count] of counts.entries()) {
    seen += count;
    if (seen >= total * share) return ends[place] ?? ends.at(-1) ?? null;
  }
  return null;
}

/** Blocks per minute, from the samples of the last ten minutes. `null` if there are too few samples. */
export function blocksPerMinute(samples: readonly MinuteSample[]): number | null {
  const known = samples.slice(-rateSamples).filter(({ height }) => height !== null);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || last.time - first.time < minRateSeconds) return null;
  const blocks = (last.height ?? 0) - (first.height ?? 0);
  return blocks <= 0 ? 0 : (blocks / (last.time - first.time)) * 60;
}

/**
 * Number of samples from which the rate is computed. They cover ten minutes, because the speed of a first sync changes
 * by a factor of ten within seconds.
 */
const rateSamples = 11;
/**
 * Minimum number of seconds between the first and the last sample. It is less than a minute, because a timer may fire
 * some milliseconds early.
 */
const minRateSeconds = 50;

/** Minutes of a day, each with one sample: 1,440 samples take less than 300 kB. */
export const samplesMax = 1440;
export const sampleEveryMs = 60_000;

/** State of the index and the mempool at a moment. Null: unknown, because the database did not answer. */
export interface Standpoint {
  readonly height: number | null;
  /** Blocks of the source that are not indexed. */
  readonly lagBlocks: number | null;
  /** Transactions of the mempool. */
  readonly mempool: number | null;
}

/** A minute of this process. */
export interface MinuteSample extends Standpoint {
  /** Unix seconds of its end. */
  readonly time: number;
  /** Requests that were answered in it; the other count has the searches among them. */
  readonly requests: number;
  readonly searches: number;
  /** Milliseconds within which 95 of 100 requests were answered. Null: there was no request. */
  readonly p95Ms: number | null;
}

/**
 * Upper ends of the classes of durations, in milliseconds: each is a fifth above the previous one, from 0.1 ms to 60 s.
 * So the 95th percentile is exact to 20 %, and a minute takes 75 counts for any number of requests.
 */
const ends = Array.from({ length: 74 }, (_, place) => 0.1 * 1.2 ** place);
const share = 0.95;

/** Samples of the last day in memory, one per minute. Operators keep longer histories from `/metrics`. */
export class DaySamples {
  readonly #read: () => Promise<Standpoint>;
  readonly #now: () => number;
  readonly #samples: MinuteSample[] = [];
  #counts: number[] = noCounts();
  #requests = 0;
  #searches = 0;

  /**
   * Takes the sources of samples.
   *
   * @param read rejects if the database does not answer
   * @param now Unix milliseconds
   */
  constructor(read: () => Promise<Standpoint>, now: () => number = Date.now) {
    this.#read = read;
    this.#now = now;
  }

  /** Counts an answered request. */
  count(milliseconds: number, isSearch: boolean): void {
    const place = ends.findIndex((end) => milliseconds <= end);
    const at = place === -1 ? ends.length : place;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#requests += 1;
    if (isSearch) this.#searches += 1;
  }

  /** Ends a minute. */
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

/** The upper end of the class that contains the percentile. */
function percentile(counts: readonly number[], total: number): number | null {
  if (total === 0) return null;
  let seen = 0;
  for (const [place, count] of counts.entries()) {
    seen += count;
    if (seen >= total * share) return ends[place] ?? ends.at(-1) ?? null;
  }
  return null;
}

/** Blocks per minute, from samples of the last ten minutes; null: too few samples. */
export function blocksPerMinute(samples: readonly MinuteSample[]): number | null {
  const known = samples.slice(-rateSamples).filter(({ height }) => height !== null);
  const [first] = known;
  const last = known.at(-1);
  if (first === undefined || last === undefined || last.time - first.time < minRateSeconds) return null;
  const blocks = (last.height ?? 0) - (first.height ?? 0);
  return blocks <= 0 ? 0 : (blocks / (last.time - first.time)) * 60;
}

/** Samples of ten minutes: blocks of a first sync differ by a factor of ten within seconds. */
const rateSamples = 11;
/** Least seconds between samples: a timer may fire some milliseconds early. */
const minRateSeconds = 50;

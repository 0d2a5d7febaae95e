import type { UsageLine } from './usage.store.ts';

/** How often counts are written, in ms. If the process is killed, the counts since the last write are lost. */
export const usageFlushMs = 5000;

export interface UsageCounterParts {
  /** Writes all counts, or none if it fails. */
  readonly write: (lines: readonly UsageLine[], lastUsed: Date) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly now?: () => Date;
}

type Count = { requests: number; refused: number };

/**
 * Counts the requests that each key made, by day and group of routes. The counts are kept in memory and written in
 * batches.
 */
export class UsageCounter {
  readonly #parts: Required<UsageCounterParts>;
  // size: keys in use × groups of routes × days since the last write; it is bounded by the number of valid keys
  #counts = new Map<string, Count & { readonly line: Omit<UsageLine, keyof Count> }>();
  #lastUsed = new Date(0);
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  constructor({ now = () => new Date(), ...parts }: UsageCounterParts) {
    this.#parts = { now, ...parts };
    this.#timer = setInterval(() => void this.flush(), usageFlushMs).unref();
  }

  /** Counts a request. The outcome `refused` means that the request exceeded the rate. */
  count(keyId: number, endpoints: string, outcome: keyof Count): void {
    const now = this.#parts.now();
    this.#lastUsed = now;
    this.#add({ keyId, endpoints, day: now.toISOString().slice(0, 10) }, outcome, 1);
  }

  /** Writes the counts. A failure is reported, and the counts stay for the next write. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** Writes the remaining counts. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#counts.size === 0) return;
    const lines = [...this.#counts.values()].map(({ line, requests, refused }) => ({
      ...line,
      requests,
      refused,
    }));
    this.#counts = new Map();
    try {
      await this.#parts.write(lines, this.#lastUsed);
    } catch (error) {
      this.#parts.onError(error);
      for (const { requests, refused, ...line } of lines) {
        this.#add(line, 'requests', requests);
        this.#add(line, 'refused', refused);
      }
    }
  }

  #add(line: Omit<UsageLine, keyof Count>, outcome: keyof Count, by: number): void {
    const name = `${line.keyId} ${line.day} ${line.endpoints}`;
    let count = this.#counts.get(name);
    if (count === undefined) {
      count = { line, requests: 0, refused: 0 };
      this.#counts.set(name, count);
    }
    count[outcome] += by;
  }
}

import { open } from 'node:fs/promises';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import { type FxRates, readFxRates } from './fx-rates.ts';

/**
 * How often the file is checked, in ms. Programs that write rates do so once a minute, but orders read the rates all
 * the time.
 */
const lookMs = 5_000;
/** Maximum size of a file, in bytes. A thousand coins need 40 kB. */
const bytesMax = 65_536;
/**
 * Maximum age of rates, in ms. Older rates are ignored, because bitcoin moves by one percent or more in an hour.
 * Customers expect that an amount in dollars uses the present price.
 */
const ageMaxMs = 3_600_000;
/**
 * How far rates may be in the future, in ms. Rates further ahead are ignored, because they would stay fresh for too
 * long. Clocks of two machines differ by seconds, or by some minutes if nothing sets them.
 */
const aheadMaxMs = 600_000;

export interface FxFileOptions {
  /**
   * Called once for each change. The argument is the reason why there are no rates, or `null` when there are rates
   * again.
   */
  readonly onProblem: (reason: string | null) => void;
  readonly now?: () => number;
}

/**
 * Reads rates from a file that a program of the operator writes. The file is read again when it changes. Never rejects.
 */
export class FxFile {
  readonly #path: string;
  readonly #options: FxFileOptions;
  readonly #looks = new SharedMaking(() => this.#look());
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Identifies the version of the file that was last read. */
  #version = '';
  #rates: FxRates | null = null;
  #problem: string | null = null;

  constructor(path: string, options: FxFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** Returns the rates. `null` if there are none, or if they are too old or too far in the future. */
  async rates(): Promise<FxRates | null> {
    const now = this.#now();
    if (Math.abs(now - this.#lookedAt) >= lookMs) await this.#looks.get(null);
    const rates = this.#rates;
    if (rates === null) return null;
    const reason = untimelyReason(now - rates.updatedAt.getTime());
    this.#tell(reason);
    return reason === null ? rates : null;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#now();
    try {
      await this.#read();
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
      this.#version = '';
    }
  }

  async #read(): Promise<void> {
    const file = await open(this.#path, 'r');
    try {
      const { mtime, size, ino } = await file.stat();
      const version = `${ino} ${mtime.getTime()} ${size}`;
      if (version === this.#version) return;
      this.#version = version;
      if (size > bytesMax) return this.#fail(`it has ${size} bytes, but at most ${bytesMax} are allowed`);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, 0);
      const read = readFxRates(buffer.toString('utf8', 0, bytesRead), mtime);
      if (read.kind === 'faulty') this.#fail(read.reason);
      else this.#rates = read.rates;
    } finally {
      await file.close();
    }
  }

  #fail(reason: string): void {
    this.#rates = null;
    this.#tell(reason);
  }

  #tell(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.onProblem(problem);
  }
}

/** Returns why rates of this age are ignored, or `null` if they are valid. */
function untimelyReason(ageMs: number): string | null {
  if (ageMs > ageMaxMs) return 'its rates are older than an hour';
  return ageMs < -aheadMaxMs ? 'its rates are more than ten minutes in the future' : null;
}

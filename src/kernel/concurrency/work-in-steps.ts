import type { Asker } from '#kernel/contracts/asker.ts';
import { nextTurn } from './turns.ts';

/**
 * Work in steps, with a result at the end. Each step yields the number of bytes that it read, or a number of bytes that
 * would take as long.
 */
export type Steps<Result> = Generator<number, Result>;

/** Number of bytes between two turns of the event loop. Simple work on these bytes takes a millisecond. */
const turnBytes = 256 * 1024;

/** Pauses in the work for one client. Short pieces of work share a turn. */
export class Pauses {
  readonly #asker: Asker;
  #bytes = 0;

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  /** Runs all steps of some work, and pauses between them. Throws the reason of the asker's signal. */
  async run<Result>(work: Steps<Result>): Promise<Result> {
    for (;;) {
      const step = work.next();
      if (step.done === true) return step.value;
      this.#bytes += step.value;
      if (this.#bytes < turnBytes) continue;
      this.#bytes = 0;
      await nextTurn(this.#asker.client);
      this.#asker.signal.throwIfAborted();
    }
  }
}

/** Runs all steps of some work without pauses. */
export function atOnce<Result>(work: Steps<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

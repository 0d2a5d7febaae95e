import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { Part, Step, StepBack } from './step-back.ts';
import type { TracedOutput } from './trace-source.ts';
import { WaitingSteps } from './waiting-steps.ts';

/**
 * Consecutive sats of the output, as an element of an ordered linked list. Their position is known in an output, or
 * among all sats of a transaction, or the sat numbers are already found.
 */
interface Segment {
  /** Number of the first sat, or null if it is not found yet. */
  sat: number | null;
  /**
   * Index of the output in the transaction to follow. Null if the positions count the sats of all inputs of the
   * transaction, one input after another.
   */
  vout: number | null;
  from: number;
  to: number;
  next: Segment | null;
}

/**
 * Follows the sats of an output back to the subsidies that mined them, first in, first out. Pure: `next` returns the
 * facts that the walk needs, and `take` receives these facts. Ranges are cut in the same way as in ord: between
 * neighbouring sats that were in different outputs before.
 */
export class Walk {
  /** Number of transactions and lists of fees that were received. */
  steps = 0;
  /** Number of parts of the output so far. There will be at least as many ranges. */
  segments = 1;
  readonly #first: Segment;
  readonly #waiting = new WaitingSteps<Segment>();

  constructor({ txid, vout, value, height }: TracedOutput) {
    this.#first = { sat: null, vout, from: 0, to: value, next: null };
    // an output with the value 0 has no sats
    if (value > 0) this.#waiting.add({ kind: 'transaction', txid, height }, this.#first);
  }

  /** The next steps that the walk needs, all at one height. The list is empty if the walk is done. */
  next(): readonly Step[] {
    return this.#waiting.next();
  }

  /** Receives the result of a step. Throws `node_answer_invalid` if the result lacks sats that the walk follows. */
  take(step: Step, back: StepBack): void {
    this.steps++;
    for (const segment of this.#waiting.take(step)) this.#replace(segment, back.partsOf(segment));
  }

  /** The ranges of the output, in the order of its sats. Valid only after the walk is done. */
  ranges(): SatRange[] {
    const ranges: SatRange[] = [];
    for (let segment: Segment | null = this.#first; segment !== null; segment = segment.next)
      if (segment.sat !== null)
        ranges.push({ start: segment.sat, end: segment.sat + segment.to - segment.from });
    return ranges;
  }

  /** Replaces a segment in the list with its parts. */
  #replace(segment: Segment, parts: readonly Part[]): void {
    const { next } = segment;
    let last = segment;
    for (const [place, { sat, source, vout, from, to }] of parts.entries()) {
      const part: Segment = place === 0 ? segment : { sat: null, vout: null, from: 0, to: 0, next: null };
      Object.assign(part, { sat, vout, from, to });
      if (place > 0) {
        last.next = part;
        this.segments++;
      }
      last = part;
      if (source !== null) this.#waiting.add(source, part);
    }
    last.next = next;
  }
}

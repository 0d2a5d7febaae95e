import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { Part, Step, StepBack } from './step-back.ts';
import type { TracedOutput } from './trace-source.ts';
import { WaitingSteps } from './waiting-steps.ts';

/** Consecutive sats: in an output, among a transaction's sats, or found. In a list, in order. */
interface Segment {
  /** The number of its first sat; null: not found yet. */
  sat: number | null;
  /** The output of the transaction to follow; null: all of its inputs, one after another. */
  vout: number | null;
  from: number;
  to: number;
  next: Segment | null;
}

/**
 * Follows the sats of an output back to the subsidies that mined them, first in, first out. Pure: it names the needed
 * facts (`next`) and receives them (`take`). Ranges are cut where ord cuts them: at every place where two sats were in
 * different outputs before.
 */
export class Walk {
  /** Number of received transactions and lists of fees. */
  steps = 0;
  /** Number of parts of the output so far: at most its number of ranges. */
  segments = 1;
  readonly #first: Segment;
  readonly #waiting = new WaitingSteps<Segment>();

  constructor({ txid, vout, value, height }: TracedOutput) {
    this.#first = { sat: null, vout, from: 0, to: value, next: null };
    // an output without value has no sats
    if (value > 0) this.#waiting.add({ kind: 'transaction', txid, height }, this.#first);
  }

  /** The steps that it needs next, all of one height; empty: the walk is done. */
  next(): readonly Step[] {
    return this.#waiting.next();
  }

  /** Receives the result of a step. Throws `node_answer_invalid` if it does not match the later parts of the walk. */
  take(step: Step, back: StepBack): void {
    this.steps++;
    for (const segment of this.#waiting.take(step)) this.#replace(segment, back.partsOf(segment));
  }

  /** The ranges of the output, in its order. Only for a walk that is done. */
  ranges(): SatRange[] {
    const ranges: SatRange[] = [];
    for (let segment: Segment | null = this.#first; segment !== null; segment = segment.next)
      if (segment.sat !== null)
        ranges.push({ start: segment.sat, end: segment.sat + segment.to - segment.from });
    return ranges;
  }

  /** Replaces a segment with parts. */
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

import type { PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import type { Step, StepBack, Stretch } from './step-back.ts';
import { WaitingSteps } from './waiting-steps.ts';

/** Two neighbouring sats, and the index of the question that they answer. */
interface Neighbours extends Stretch {
  readonly question: number;
}

/**
 * Decides whether ranges of outputs are cut at some places: whether the sats on both sides came from different outputs,
 * or from the subsidy and from fees. Follows each pair of sats back until the two separate, or to the subsidy that
 * mined both. This takes one path for each place, however many paths lead to the output. Pure, like `Walk`.
 */
export class CutWalk {
  /** The answer to each question. */
  readonly #cuts: boolean[];
  readonly #waiting = new WaitingSteps<Neighbours>();

  constructor(places: readonly PlaceInOutput[]) {
    this.#cuts = places.map(() => false);
    for (const [question, { txid, height, vout, offset }] of places.entries()) {
      const neighbours = { question, vout, from: offset - 1, to: offset + 1 };
      this.#waiting.add({ kind: 'transaction', txid, height }, neighbours);
    }
  }

  /** The next steps that the walk needs, all of one height. Empty if the walk is done. */
  next(): readonly Step[] {
    return this.#waiting.next();
  }

  /**
   * Receives the result of a step. Throws `node_answer_invalid` if the result does not have the sats that the walk
   * follows.
   */
  take(step: Step, back: StepBack): void {
    for (const neighbours of this.#waiting.take(step)) {
      const { question } = neighbours;
      const [part, other] = back.partsOf(neighbours);
      if (part === undefined) continue;
      if (other !== undefined) this.#cuts[question] = true;
      else if (part.source !== null)
        this.#waiting.add(part.source, { question, vout: part.vout, from: part.from, to: part.to });
    }
  }

  /** The answer for each place. Valid only if the walk is done. */
  cuts(): readonly boolean[] {
    return this.#cuts;
  }
}

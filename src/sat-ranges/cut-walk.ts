import type { PlaceInOutput } from '#kernel/contracts/past-chain.ts';
import type { Step, StepBack, Stretch } from './step-back.ts';
import { WaitingSteps } from './waiting-steps.ts';

/** Two neighbouring sats, and the index of the question about them. */
interface Neighbours extends Stretch {
  readonly question: number;
}

/**
 * Decides whether outputs have cuts at certain positions. A cut is where the two neighbouring sats came from different
 * outputs, or one from the subsidy and one from fees. Each pair of sats is followed back until the two sats separate,
 * or until the subsidy that mined both. This needs one path for each position, however many paths lead to the output.
 * Pure, like `Walk`.
 */
export class CutWalk {
  /** The answer to each question: whether there is a cut. */
  readonly #cuts: boolean[];
  readonly #waiting = new WaitingSteps<Neighbours>();

  constructor(places: readonly PlaceInOutput[]) {
    this.#cuts = places.map(() => false);
    for (const [question, { txid, height, vout, offset }] of places.entries()) {
      const neighbours = { question, vout, from: offset - 1, to: offset + 1 };
      this.#waiting.add({ kind: 'transaction', txid, height }, neighbours);
    }
  }

  /** The next steps that the walk needs, all at one height. The list is empty if the walk is done. */
  next(): readonly Step[] {
    return this.#waiting.next();
  }

  /** Receives the result of a step. Throws `node_answer_invalid` if the result lacks sats that the walk follows. */
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

  /** Whether there is a cut at each position. Valid only after the walk is done. */
  cuts(): readonly boolean[] {
    return this.#cuts;
  }
}

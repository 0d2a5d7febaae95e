import type { TxidHex } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { Step } from './step-back.ts';

/** The parts that wait for the steps of one block. */
interface Waiters<Waiting> {
  readonly transactions: Map<TxidHex, Waiting[]>;
  fees: Waiting[];
}

/**
 * Parts that wait for steps back. The highest blocks come first, so that each transaction is requested only once, even
 * if many paths lead to it.
 */
export class WaitingSteps<Waiting> {
  readonly #byHeight = new Map<number, Waiters<Waiting>>();
  /**
   * Upper bound for the height of blocks with waiting parts. It never rises during a walk, because every step leads
   * back. So all calls of `next` together pass over the heights only once.
   */
  #highest = 0;

  add(step: Step, waiting: Waiting): void {
    const { transactions, fees } = this.#ofBlock(step.height);
    if (step.kind === 'fees') {
      fees.push(waiting);
      return;
    }
    const others = transactions.get(step.txid);
    if (others === undefined) transactions.set(step.txid, [waiting]);
    else others.push(waiting);
  }

  #ofBlock(height: Height): Waiters<Waiting> {
    const known = this.#byHeight.get(height);
    if (known !== undefined) return known;
    const made: Waiters<Waiting> = { transactions: new Map(), fees: [] };
    this.#byHeight.set(height, made);
    this.#highest = Math.max(this.#highest, height);
    return made;
  }

  /** The steps that are needed next, all for one block. The list is empty if no part waits. */
  next(): readonly Step[] {
    if (this.#byHeight.size === 0) return [];
    while (!this.#byHeight.has(this.#highest)) this.#highest--;
    const height = asHeight(this.#highest);
    const { transactions } = this.#ofBlock(height);
    // fees come last, because they lead to transactions in the same block
    if (transactions.size === 0) return [{ kind: 'fees', height }];
    return [...transactions.keys()].map((txid): Step => ({ kind: 'transaction', txid, height }));
  }

  /** Removes and returns the parts that wait for a step. */
  take(step: Step): readonly Waiting[] {
    const ofBlock = this.#ofBlock(step.height);
    const { transactions, fees } = ofBlock;
    let taken: readonly Waiting[] = fees;
    if (step.kind === 'fees') {
      ofBlock.fees = [];
    } else {
      taken = transactions.get(step.txid) ?? [];
      transactions.delete(step.txid);
    }
    if (transactions.size === 0 && ofBlock.fees.length === 0) this.#byHeight.delete(step.height);
    return taken;
  }
}

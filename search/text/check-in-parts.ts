import { nextTurn } from '#kernel/concurrency/turns.ts';

/** A check in parts. It yields after each part, which takes about a millisecond. */
export type CheckInParts<Value> = (value: Value) => Generator<void, boolean>;

/** A check that takes at most a millisecond per value, or a check in parts. */
export type Check<Value> = CheckInParts<Value> | ((value: Value) => boolean);

/** How long checks may run in one turn of the event loop, in ms. */
const turnMs = 4;

/** Runs checks in turns of the event loop. */
export class ChecksInTurns {
  #endsAtMs = performance.now() + turnMs;

  /** Waits for the next turn if this one is over. */
  async pause(): Promise<void> {
    if (performance.now() < this.#endsAtMs) return;
    await nextTurn();
    this.#endsAtMs = performance.now() + turnMs;
  }

  /** The result of a check. Most checks have one part and need no promise. */
  outcomeOf(parts: Generator<void, boolean> | boolean): boolean | Promise<boolean> {
    if (typeof parts === 'boolean') return performance.now() < this.#endsAtMs ? parts : this.#later(parts);
    const first = parts.next();
    return first.done === true && performance.now() < this.#endsAtMs ? first.value : this.#rest(parts, first);
  }

  /** The result of work in parts, which pauses between parts. */
  async resultOf<Result>(parts: Generator<void, Result>): Promise<Result> {
    for (let step = parts.next(); ; step = parts.next()) {
      if (step.done === true) return step.value;
      await this.pause();
    }
  }

  async #later(outcome: boolean): Promise<boolean> {
    await this.pause();
    return outcome;
  }

  async #rest(parts: Generator<void, boolean>, first: IteratorResult<void, boolean>): Promise<boolean> {
    for (let step = first; ; step = parts.next()) {
      await this.pause();
      if (step.done === true) return step.value;
    }
  }
}

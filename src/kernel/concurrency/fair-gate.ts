import type { Asker } from '#kernel/contracts/asker.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { HeldByClient } from './held-by-client.ts';
import { inTurnsOf } from './turns.ts';

export interface FairGateOptions {
  /** Maximum number of works that run at once. Each running work takes one place. */
  readonly running: number;
  /** Maximum number of places for one client. Absent: all places. */
  readonly each?: number;
  /** Maximum number of places for one client while other clients send requests too. Absent: the same as `each`. */
  readonly eachBesideOthers?: number;
  /**
   * While others send requests too, a client that has used a place gets it again only after a rest. The rest is this
   * many times as long as the use. Others may have the place immediately. Absent: no rest.
   */
  readonly restsBesideOthers?: number;
  /** Maximum number of works that wait for a place. */
  readonly waiting: number;
  /** How long a work may wait, in ms. */
  readonly waitMs: number;
  /** Makes the error of a refusal. */
  readonly refusal: () => AppError;
}

interface Waiting {
  /** Round of the waiting work. Each round has one work of each client. */
  readonly round: number;
  /** Number in the order of arrival. */
  readonly turn: number;
  readonly enter: () => void;
}

/** Client of work that no client requested. All such work shares one client's part. */
const unnamed = '';

/**
 * How long ago another client's request may be to count as simultaneous, in ms. It includes the time to a person's next
 * click.
 */
const besideMs = 5_000;
/**
 * How long a rest lasts at most, in ms. After work that hung for seconds, a longer rest would take the place away for
 * too long.
 */
const restMaxMs = 100;

/**
 * Limits the number of works that run at once and the number of works that wait. Further works are refused immediately.
 * A free place goes to the client with the fewest places. Clients with equally many are served in rounds, each client
 * once per round. So a client with many requests waits for its own requests, and others hardly wait for that client.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  /** Client of the last request. Null: there was no request yet. */
  #lastClient: string | null = null;
  /** Time of the last request that came from another client than the request before it. */
  #otherAtMs = Number.NEGATIVE_INFINITY;
  readonly #running = new HeldByClient();
  /** Places that rest. Only the client that used such a place cannot have it. */
  readonly #resting = new HeldByClient();
  #waiting = 0;
  #turns = 0;
  /** Round of the last admitted work. New work begins in this round. */
  #round = 0;
  /** The last round of each waiting client. */
  readonly #lastRoundOf = new Map<string, number>();
  /** Waiting works by client, in the order of arrival. */
  readonly #waitingOf = new Map<string, Set<Waiting>>();

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  /** Number of waiting works, and its limit. */
  get state(): QueueState {
    return { length: this.#waiting, limit: this.#options.waiting };
  }

  /** Number of taken places, and of all places. */
  get places(): QueueState {
    return { length: this.#running.total, limit: this.#options.running };
  }

  /** Runs `work` in a place, in turns of its client. Throws like `enter`. */
  async run<T>(asker: Asker | undefined, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(asker);
    try {
      return await inTurnsOf(asker?.client ?? unnamed, work);
    } finally {
      leave();
    }
  }

  /**
   * Takes a place when one is free. Returns a function that frees it, which may be called several times. Throws the
   * refusal if too many works wait already or the wait was too long, and the signal's reason if it was aborted before.
   */
  async enter(asker: Asker | undefined): Promise<() => void> {
    asker?.signal.throwIfAborted();
    const client = asker?.client ?? unnamed;
    this.sees(client);
    if (this.#mayEnter(client)) this.#running.add(client, 1);
    else await this.#wait(client, asker?.signal);
    let isIn = true;
    const sinceMs = performance.now();
    return () => {
      if (isIn) this.#leave(client, performance.now() - sinceMs);
      isIn = false;
    };
  }

  /** Records that a client sent a request, although the request needs no place here. */
  sees(client: string): void {
    if (this.#lastClient !== null && client !== this.#lastClient) this.#otherAtMs = performance.now();
    this.#lastClient = client;
  }

  get #isBesideOthers(): boolean {
    return performance.now() - this.#otherAtMs < besideMs;
  }

  get #each(): number {
    const { running, each = running, eachBesideOthers = each } = this.#options;
    return this.#isBesideOthers ? eachBesideOthers : each;
  }

  /** Number of places that a client cannot have now. */
  #takenBy(client: string): number {
    return this.#running.of(client) + this.#resting.of(client);
  }

  #mayEnter(client: string): boolean {
    // a client may have more places again, so its waiting requests come first
    if (this.#waitingOf.has(client)) return false;
    return this.#running.total < this.#options.running && this.#takenBy(client) < this.#each;
  }

  #leave(client: string, usedMs: number): void {
    this.#running.add(client, -1);
    const { restsBesideOthers: rests = 0 } = this.#options;
    if (rests > 0 && this.#isBesideOthers) this.#rest(client, Math.min(rests * usedMs, restMaxMs));
    this.#admit();
  }

  #rest(client: string, milliseconds: number): void {
    this.#resting.add(client, 1);
    setTimeout(() => {
      this.#resting.add(client, -1);
      this.#admit();
    }, milliseconds);
  }

  #admit(): void {
    // admit several if a client may have more places again
    for (let next = this.#next(); next !== null; next = this.#next()) {
      // add it now, so that the place is taken before the waiting work continues
      this.#running.add(next.client, 1);
      next.waiting.enter();
    }
  }

  #next(): { readonly client: string; readonly waiting: Waiting } | null {
    if (this.#running.total >= this.#options.running) return null;
    const each = this.#each;
    let best: { readonly client: string; readonly waiting: Waiting; readonly has: number } | null = null;
    for (const [client, queue] of this.#waitingOf) {
      const [waiting] = queue;
      if (waiting === undefined || this.#takenBy(client) >= each) continue;
      const has = this.#running.of(client);
      if (best === null || isBefore({ waiting, has }, best)) best = { client, waiting, has };
    }
    return best;
  }

  #wait(client: string, signal: AbortSignal | undefined): Promise<void> {
    const { waiting: most, waitMs, refusal } = this.#options;
    if (this.#waiting >= most) throw refusal();
    const queue = this.#waitingOf.get(client) ?? new Set();
    // a client with a place already had its turn in this round
    const lastRound = this.#lastRoundOf.get(client) ?? this.#round - (this.#running.of(client) > 0 ? 0 : 1);
    const round = Math.max(this.#round, lastRound + 1);
    this.#lastRoundOf.set(client, round);
    this.#waitingOf.set(client, queue);
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        queue.delete(waiting);
        this.#waiting--;
        if (queue.size > 0 || this.#waitingOf.get(client) !== queue) return;
        this.#waitingOf.delete(client);
        this.#lastRoundOf.delete(client);
      };
      const waiting: Waiting = {
        round,
        turn: this.#turns++,
        enter: () => {
          this.#round = Math.max(this.#round, round);
          settle();
          resolve();
        },
      };
      const onAbort = (): void => {
        settle();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        settle();
        reject(refusal());
      }, waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.add(waiting);
    });
  }
}

interface Candidate {
  readonly waiting: Waiting;
  /** Number of places that its client has. */
  readonly has: number;
}

/** Whether one candidate is admitted before the other: by places, then by round, then by arrival. */
function isBefore(one: Candidate, other: Candidate): boolean {
  if (one.has !== other.has) return one.has < other.has;
  if (one.waiting.round !== other.waiting.round) return one.waiting.round < other.waiting.round;
  return one.waiting.turn < other.waiting.turn;
}

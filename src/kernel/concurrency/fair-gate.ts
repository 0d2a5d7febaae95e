import type { Asker } from '#kernel/contracts/asker.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';
import { HeldByClient } from './held-by-client.ts';
import { inTurnsOf } from './turns.ts';

export interface FairGateOptions {
  /** Maximum number of jobs that run at once. Each running job has one slot. */
  readonly running: number;
  /** Maximum number of slots for one client. If absent, one client may have all slots. */
  readonly each?: number;
  /** Maximum number of slots for one client while other clients send requests, too. If absent, `each` applies. */
  readonly eachBesideOthers?: number;
  /**
   * Length of a pause, as a multiple of the time that a client used a slot. While other clients send requests, too,
   * this client may use the slot again only after the pause. Other clients may use the slot immediately. If absent,
   * there is no pause.
   */
  readonly restsBesideOthers?: number;
  /** Maximum number of jobs that wait for a slot. */
  readonly waiting: number;
  /** How long a job may wait, in ms. */
  readonly waitMs: number;
  /** Makes the error that is thrown when a job is refused. */
  readonly refusal: () => AppError;
}

interface Waiting {
  /** Round of the waiting job. Each round has one job of each client. */
  readonly round: number;
  /** Number of the job in the order of arrival. */
  readonly turn: number;
  readonly enter: () => void;
}

/** Client of jobs that no client requested. All such jobs share the part of one client. */
const unnamed = '';

/**
 * Maximum age of another client's request that is treated as simultaneous, in ms. It includes the time until a person's
 * next click.
 */
const besideMs = 5_000;
/**
 * Maximum length of a pause, in ms. After a job that hung for seconds, a longer pause would block the slot for too
 * long.
 */
const restMaxMs = 100;

/**
 * Limits the number of jobs that run at once, and the number of jobs that wait. Further jobs are refused immediately. A
 * free slot goes to the client with the fewest slots. Clients with equally many slots are served in rounds, once per
 * round. So a client with many requests waits for its own requests, and other clients hardly wait for that client.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  /** Client of the last request. `null` if there was no request yet. */
  #lastClient: string | null = null;
  /** Time of the last request whose client differs from the client of the request before it. */
  #otherAtMs = Number.NEGATIVE_INFINITY;
  readonly #running = new HeldByClient();
  /** Slots in a pause, by the client that used them. Only this client cannot have the slot. */
  readonly #resting = new HeldByClient();
  #waiting = 0;
  #turns = 0;
  /** Round of the last admitted job. New jobs begin in this round. */
  #round = 0;
  /** The last round of each waiting client. */
  readonly #lastRoundOf = new Map<string, number>();
  /** Waiting jobs by client, in the order of arrival. */
  readonly #waitingOf = new Map<string, Set<Waiting>>();

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  /** Number of waiting jobs, and the limit of this number. */
  get state(): QueueState {
    return { length: this.#waiting, limit: this.#options.waiting };
  }

  /** Number of used slots, and number of all slots. */
  get places(): QueueState {
    return { length: this.#running.total, limit: this.#options.running };
  }

  /** Runs `work` in a slot, in turns of its client. Throws the same errors as `enter`. */
  async run<T>(asker: Asker | undefined, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(asker);
    try {
      return await inTurnsOf(asker?.client ?? unnamed, work);
    } finally {
      leave();
    }
  }

  /**
   * Waits for a free slot. Returns a function that frees the slot, which may be called several times. Throws the
   * refusal if too many jobs wait already or if the wait was too long. Throws the signal's reason if the signal was
   * aborted before.
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

  /** Records that a client sent a request that needs no slot here. */
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

  /** Number of slots that a client uses, or cannot have because of a pause. */
  #takenBy(client: string): number {
    return this.#running.of(client) + this.#resting.of(client);
  }

  #mayEnter(client: string): boolean {
    // the client's waiting requests come first, because the client may have more slots again
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
    // admit several jobs if a client may have more slots again
    for (let next = this.#next(); next !== null; next = this.#next()) {
      // add the client now, so that the slot is used before the waiting job continues
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
    // a client with a slot already had its turn in this round
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
  /** Number of slots that the candidate's client has. */
  readonly has: number;
}

/**
 * Whether one candidate is admitted before the other. The number of slots decides first, then the round, then the
 * arrival.
 */
function isBefore(one: Candidate, other: Candidate): boolean {
  if (one.has !== other.has) return one.has < other.has;
  if (one.waiting.round !== other.waiting.round) return one.waiting.round < other.waiting.round;
  return one.waiting.turn < other.waiting.turn;
}

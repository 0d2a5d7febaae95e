import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { WebhookTryResult } from '#kernel/reports/metrics.ts';
import { Retry } from '#kernel/retry.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import {
  giveBack,
  type HostStanding,
  markTry,
  nextDueMs,
  noteHost,
  type TakenWebhook,
  type TryResult,
  takeDue,
} from './delivery.store.ts';
import { pauseAfter } from './schedule.ts';
import { filledBody } from './secret-place.ts';
import type { WebhookKeys } from './webhook-keys.ts';

/** How long a try may take, in ms. This includes name resolution, connection and response. */
const tryMs = 10_000;
/**
 * Maximum number of bytes that are read of a response. Only the status of a response matters, but reading a short body
 * keeps the connection usable.
 */
const answerBytesMax = 64 * 1024;
/** Maximum number of tries at once. `hostTriesMax` is the maximum for one host. */
const triesMax = 32;
const hostTriesMax = 4;
/**
 * Maximum number of tries for hosts of each speed (`HostStanding`). A try may take ten seconds if the host is slow or
 * its speed is unknown. Eight tries are always left for quick hosts, regardless of the number of other hosts.
 */
const standingTriesMax: Readonly<Record<HostStanding, number>> = { 0: triesMax, 1: 12, 2: 12 };
const quickMs = 2_000;
/**
 * Lease of a message that a process has taken, in ms. After this time, another process may take the message. A try and
 * all attempts to store its result take less time.
 */
const leaseMs = 60_000;
/**
 * Maximum time between taking and sending a message, in ms. If more time has passed, this process was suspended, and
 * the lease of the message may end soon.
 */
const sentWithinMs = 20_000;
/** How long storing the result of a try is retried while the database is not available, in ms. */
const markBudgetMs = 20_000;
/** Result of a try if the secret is unknown. The message waits until a process knows the old secret. */
const unknownSecret: TryResult = {
  outcome: 'unanswered',
  status: null,
  error: 'its secret comes from an earlier SERVICE_SECRET_FILE; set SERVICE_SECRET_OLD_FILE to that file',
  isQuick: true,
};
/** Maximum number of characters of a stored error. */
const errorChars = 300;

/** The clock and the random numbers of deliveries. Only tests replace the machine's clock and random numbers. */
export interface DeliveryClock {
  /** Milliseconds by which this clock is ahead of the database's clock. */
  aheadMs(): number;
  /** A random number from 0 to below 1. */
  random(): number;
}

export interface DeliveriesParts {
  readonly pool: pg.Pool;
  readonly http: Pick<OutgoingHttp, 'post'>;
  readonly keys: WebhookKeys;
  /** Name and version of this program. */
  readonly userAgent: string;
  readonly clock: DeliveryClock;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called when a try has ended, so that another try can begin. */
  readonly onTry: (outcome: WebhookTryResult) => void;
}

/** The tries of this process. */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  /** Running tries. The key is the token of the taken message. */
  readonly #tries = new Map<string, { readonly taken: TakenWebhook; readonly ended: Promise<void> }>();
  #newestFirst = false;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  get underWay(): number {
    return this.#tries.size;
  }

  /**
   * Begins tries of due messages, up to the maximum number of tries. Returns the milliseconds until the next message
   * becomes due. Returns null if only a notification or the end of a try can make more tries possible.
   */
  async begin(client: pg.ClientBase): Promise<number | null> {
    const { clock, signal } = this.#parts;
    for (;;) {
      const free = triesMax - this.#tries.size;
      if (free === 0 || signal.aborted) return null;
      const askedAt = performance.now();
      // alternate between the newest and the oldest messages. An honest new receiver is soon among the newest, and no
      // message waits forever
      this.#newestFirst = !this.#newestFirst;
      const taken = await takeDue(client, {
        aheadMs: clock.aheadMs(),
        free,
        freeByStanding: this.#freeByStanding(),
        busy: this.#busyHosts(),
        hostMax: hostTriesMax,
        newestFirst: this.#newestFirst,
        leaseMs,
      });
      if (taken.length > 0) failpoint('webhook-taken');
      for (const one of taken) {
        this.#tries.set(one.token, { taken: one, ended: this.#try(one, askedAt) });
      }
      if (taken.length === 0) return nextDueMs(client, clock.aheadMs());
    }
  }

  /**
   * Waits for the end of all tries. Call it after the signal is aborted, because the signal ends the tries. Then other
   * processes can take the messages.
   */
  async end(): Promise<void> {
    await Promise.all([...this.#tries.values()].map(({ ended }) => ended));
  }

  async #try(taken: TakenWebhook, askedAt: number): Promise<void> {
    const { log, onTry, pool, signal } = this.#parts;
    const { subject, sequence, host, token } = taken;
    let outcome: WebhookTryResult | null = null;
    try {
      const result = await this.#send(taken, askedAt);
      if (result === null) {
        await giveBack(pool, [token], this.#parts.clock.aheadMs());
        return;
      }
      failpoint('webhook-sent');
      outcome = result.outcome;
      await this.#mark(taken, result);
      failpoint('webhook-marked');
    } catch (error) {
      // another process sends the message again when its lease ends
      if (!signal.aborted)
        log.warn({ err: error, subject, sequence, host }, 'an attempt could not be stored');
    } finally {
      this.#tries.delete(token);
      if (outcome !== null) onTry(outcome);
    }
  }

  /** Sends a message once. Returns null if the try has no result, and must be repeated. */
  async #send(
    { id, sequence, url, body: stored, secretOf }: TakenWebhook,
    askedAt: number,
  ): Promise<TryResult | null> {
    const { clock, http, keys, signal, userAgent } = this.#parts;
    const startedAt = performance.now();
    if (startedAt - askedAt > sentWithinMs) return null;
    const timestamp = Math.floor((Date.now() + clock.aheadMs()) / 1000);
    const body = filledBody(stored, secretOf, keys);
    if (body === null) return unknownSecret;
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': keys.signatures({ id, timestamp, body }, secretOf),
      'x-satscribe-sequence': String(sequence),
    };
    try {
      const request = { headers, body, bytesMax: answerBytesMax, timeoutMs: tryMs, signal };
      const { status } = await http.post(url, request);
      const isQuick = performance.now() - startedAt < quickMs;
      const outcome = status >= 200 && status < 300 ? 'delivered' : status === 410 ? 'gone' : 'refused';
      return { outcome, status, error: null, isQuick };
    } catch (error) {
      if (signal.aborted) return null;
      if (!(error instanceof AppError)) throw error;
      const reason = error.message.slice(0, errorChars);
      return { outcome: 'unanswered', status: null, error: reason, isQuick: false };
    }
  }

  async #mark(taken: TakenWebhook, result: TryResult): Promise<void> {
    const { clock, log, pool } = this.#parts;
    const { subject, sequence, host, tries } = taken;
    const pauseMs = pauseAfter(tries + 1, clock.random());
    const retry = new Retry({ budgetMs: markBudgetMs });
    const isOurs = await retry.run(async () => {
      try {
        return await markTry(pool, taken, result, { pauseMs, aheadMs: clock.aheadMs() });
      } catch (error) {
        throw postgresFailure(error);
      }
    });
    const fields = { subject, sequence, host, status: result.status, reason: result.error };
    if (!isOurs) log.warn(fields, 'an attempt ended after its lease');
    else if (result.outcome === 'gone')
      log.info(fields, 'a receiver no longer exists and gets no more messages');
    else if (result.outcome !== 'delivered' && pauseMs === null)
      log.warn(fields, 'a message was given up after its last attempt');
    await noteHost(pool, host, result.isQuick);
  }

  #freeByStanding(): Record<HostStanding, number> {
    const free = { ...standingTriesMax };
    for (const { taken } of this.#tries.values()) free[taken.standing]--;
    return free;
  }

  #busyHosts(): Map<string, number> {
    const busy = new Map<string, number>();
    for (const { taken } of this.#tries.values()) busy.set(taken.host, (busy.get(taken.host) ?? 0) + 1);
    return busy;
  }
}

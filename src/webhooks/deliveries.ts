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

/** A try: name, connection and answer together. */
const tryMs = 10_000;
/** Nothing of an answer matters but its status; a short body leaves the connection usable. */
const answerBytesMax = 64 * 1024;
/** Tries at once, and at one host. */
const triesMax = 32;
const hostTriesMax = 4;
/**
 * Maximum tries by the standing of hosts: hosts of unknown speed, and hosts that did not answer at once, may take ten
 * seconds each. Eight places are left for hosts that answer, however many others there are.
 */
const standingTriesMax: Readonly<Record<HostStanding, number>> = { 0: triesMax, 1: 12, 2: 12 };
const quickMs = 2_000;
/**
 * After this time another process may take a message: a try, and the note about it with its repetitions, are over by
 * then.
 */
const leaseMs = 60_000;
/** A message that was taken longer ago is not sent: this process stood still, and its lease may be over soon. */
const sentWithinMs = 20_000;
/** For the note about a try while the database is away. */
const markBudgetMs = 20_000;
/** The message waits: it can be sent once the process knows the old secret. */
const unknownSecret: TryResult = {
  outcome: 'unanswered',
  status: null,
  error: 'its secret comes from an earlier SERVICE_SECRET_FILE: set SERVICE_SECRET_OLD_FILE to that file',
  isQuick: true,
};
/** Longest error that is kept. */
const errorChars = 300;

/** The clock and chance of deliveries; others than those of the machine only in tests. */
export interface DeliveryClock {
  /** How far the clock is ahead of the database's. */
  aheadMs(): number;
  /** From 0 to below 1. */
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
  /** A try has ended, and places are free. */
  readonly onTry: (outcome: WebhookTryResult) => void;
}

/** The tries of this process. */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  /** Tries under way, by the token of their taking. */
  readonly #tries = new Map<string, { readonly taken: TakenWebhook; readonly ended: Promise<void> }>();
  #newestFirst = false;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  get underWay(): number {
    return this.#tries.size;
  }

  /**
   * Begins tries of what is due, as far as there are places. Returns the milliseconds until more may be due; null: only
   * news or the end of a try can bring more.
   */
  async begin(client: pg.ClientBase): Promise<number | null> {
    const { clock, signal } = this.#parts;
    for (;;) {
      const free = triesMax - this.#tries.size;
      if (free === 0 || signal.aborted) return null;
      const askedAt = performance.now();
      // an honest new receiver is soon among the newest, and no message waits for ever among the oldest
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

  /** After the signal: waits for the tries, which end with it, and lets other processes have their messages. */
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
      // the message is sent again once its lease is over
      if (!signal.aborted) log.warn({ err: error, subject, sequence, host }, 'a try could not be noted');
    } finally {
      this.#tries.delete(token);
      if (outcome !== null) onTry(outcome);
    }
  }

  /** Null: nothing can be said of it, and it is to be tried again. */
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
    if (!isOurs) log.warn(fields, 'a try came to its end after its lease');
    else if (result.outcome === 'gone') log.info(fields, 'a receiver is gone: it is told nothing more');
    else if (result.outcome !== 'delivered' && pauseMs === null)
      log.warn(fields, 'a message was given up after all its tries');
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

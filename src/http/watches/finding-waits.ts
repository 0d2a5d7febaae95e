import type { FastifyReply } from 'fastify';
import { answerIsMade } from '#http/server/access/asker.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { limits } from '#http/server/limits.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Maximum number of seconds that a request waits. Proxies close silent connections after 30 to 60 s. */
export const waitMax = 25;

/** Requests that wait for findings. They end when the server closes. */
export class FindingWaits {
  readonly #closing = new AbortController();
  readonly #places = new Shares({
    what: 'requests that wait for findings',
    total: limits.findingWaits,
    each: limits.findingWaitsEach,
    full: (message) => new AppError('too_many_streams', message),
  });

  constructor(app: App, { operations }: Pick<AppDependencies, 'operations'>) {
    operations.metrics.watchQueue('waits for findings', () => this.#places.state);
    app.addHook('preClose', async () => this.#closing.abort());
  }

  /**
   * Counts a request that waits, and frees its place among the requests that are being answered. Returns the signal
   * that ends the wait. Throws `too_many_at_once` or `too_many_streams`.
   */
  start(reply: FastifyReply, asker: Asker): AbortSignal {
    this.#places.take(asker);
    answerIsMade(reply);
    return AbortSignal.any([asker.signal, this.#closing.signal]);
  }
}

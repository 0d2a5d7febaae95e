import type { FastifyReply } from 'fastify';
import type { Transactions } from '#http/ord/transactions/transactions.ts';
import { resolve } from '#http/search/resolving/resolve.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOfApp } from '#http/server/answers/site.ts';
import { toldOf } from '#http/server/errors/answer-errors.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { namedPage } from '#web/pages/named.page.ts';

/** Dependencies of the page of results. */
export interface ResultsDependencies extends AppDependencies {
  /** Finds transactions that are in no table. */
  readonly transactions: Transactions;
}

/**
 * Returns the failure of a full-text search, so that the page can show the text's other meanings. Throws all other
 * errors.
 */
export function searchFailure(error: unknown): AppError {
  const failure = postgresFailure(error);
  if (failure instanceof AppError && isOfSearch(failure)) return failure;
  throw error;
}

const isOfSearch = ({ code }: AppError): boolean => code.startsWith('search_engine_') || ofSearch.has(code);

const ofSearch: ReadonlySet<string> = new Set(['search_busy', 'search_too_broad', 'postgres_timeout']);

/**
 * Sends the other meanings of a text whose full-text search failed, because a number, a rune or a collection still has
 * its page. Throws the failure if the text certainly has no meaning.
 */
export async function namedResults(
  deps: ResultsDependencies,
  text: string,
  failure: AppError,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { transactions } = deps;
  const meanings = await resolve(deps, { text, asker: askerOf(reply), detail: 'card', transactions });
  const named = meanings.filter(({ certainty }) => certainty !== 'possible');
  if (named.length === 0) throw failure;
  // the same search may succeed soon
  reply.header('cache-control', 'no-store');
  const view = { site: siteOfApp(reply), query: text, meanings: named, failure: toldOf(failure) };
  return sendPage(reply, namedPage(view), { thumbnails: true });
}

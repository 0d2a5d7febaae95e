import type { Static } from 'typebox';
import type { SiteDependencies } from '#http/server/answers/site.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { countOrders } from '#orders/order/order-counts.queries.ts';
import type { Markup } from '#web/html.ts';
import { type StateWords, type StatusView, statusPage } from '#web/pages/status.page.ts';
import { readWaiting } from '#webhooks/webhooks.queries.ts';
import { blocksPerMinute, type DaySamples } from './day-samples.ts';
import type { statusAnswer } from './status-answer.ts';

type Status = Static<typeof statusAnswer>;
type Own = Status['satscribe'];

/** Makes the page of `/status`. It shows the data of the JSON response in words, and the last day of this process. */
export async function statusMarkup(
  deps: SiteDependencies & Pick<AppDependencies, 'operations' | 'orders'>,
  { tip, body }: { readonly tip: Tip | null; readonly body: Status },
  samples: DaySamples,
  signal: AbortSignal,
): Promise<Markup> {
  const { operations, orders = null } = deps;
  const { satscribe: own } = body;
  const { lag, source, search } = own;
  const view: StatusView = {
    site: siteOf(deps, tip),
    version: own.version,
    upSeconds: (Date.now() - operations.startedAt.getTime()) / 1000,
    index: indexWords(own),
    height: tip?.height ?? null,
    sourceHeight: heightOf(source?.tip ?? null),
    lagBlocks: lag === null ? null : lag.blocks,
    lagSeconds: lag === null || lag.blocks === 0 ? null : lag.seconds,
    blocksPerMinute: blocksPerMinute(samples.samples),
    problems: problemsOf(own),
    tables: own.derivedTables
      .filter(({ state }) => state !== 'complete')
      .map(({ name, state, tip: reached }) => ({
        name,
        state: tableWords[state],
        height: heightOf(reached),
      })),
    search: searchWords(search),
    unsealed: search.unsealed.contents + search.unsealed.metadata,
    mempool: mempoolWords(own.mempool),
    payments: paymentWords(own),
    orders: await orderWords(operations.pool, orders, signal),
    webhooks: orders === null ? null : await webhooksOf(operations.pool, signal),
    disk: (await operations.diskRoom?.().catch(() => null)) ?? null,
    queues: operations.metrics.queues(),
    day: samples.samples,
  };
  return statusPage(view);
}

const heightOf = (tip: { readonly height: number } | null): Height | null =>
  tip === null ? null : asHeight(tip.height);

const tableWords: Readonly<Record<Own['derivedTables'][number]['state'], string>> = {
  complete: 'complete',
  'catching-up': 'being filled',
  waiting: 'waits',
  gap: 'has a gap: blocks are missing',
  remaking: 'being rebuilt by newer rules',
};

function indexWords({ source, lag, tip }: Own): StateWords {
  if (source === null) return { kind: 'bad', words: 'No process has indexed here yet.' };
  if (source.state === 'gone') return { kind: 'bad', words: 'The process that indexes has stopped.' };
  if (source.problem !== null) return { kind: 'bad', words: meaningOf(source.problem.code) };
  if (source.state === 'waiting') return { kind: 'busy', words: 'It waits for the node or the database.' };
  if (lag !== null && lag.blocks > 1) return { kind: 'busy', words: 'Blocks are being indexed.' };
  if (tip === null) return { kind: 'busy', words: 'The first block is being indexed.' };
  return source.state === 'ended'
    ? { kind: 'good', words: 'All blocks of the source are indexed.' }
    : { kind: 'good', words: 'Up to date; new blocks are indexed as they come.' };
}

/**
 * The problems, described by the meaning of their codes. Their messages are left out, because messages may contain
 * names of machines, and readers of this page cannot fix the problems.
 */
function problemsOf({ problems, degraded, source, search, derivedTables }: Own): StatusView['problems'] {
  const codes = [
    ...[...problems, ...degraded].map(({ code }) => code),
    ...(source?.problem === null || source === null ? [] : [source.problem.code]),
    ...(search.server?.problem === null || search.server === null ? [] : [search.server.problem.code]),
    ...derivedTables.flatMap(({ problem }) => (problem === null ? [] : [problem.code])),
  ];
  return [...new Set(codes)].map((code) => ({ code, meaning: meaningOf(code) }));
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);
const meaningOf = (code: string): string =>
  isCode(code) ? errorCodes[code].meaning : 'A part of the service has a problem.';

function searchWords({ server }: Own['search']): StateWords {
  if (server === null) return { kind: 'good', words: 'answered by Postgres' };
  if (server.problem !== null)
    return server.fallback === 'postgres'
      ? { kind: 'busy', words: 'answered by Postgres, until Elasticsearch answers again' }
      : { kind: 'bad', words: 'not answered until Elasticsearch answers again' };
  const behind = server.lagBlocks ?? 0;
  return { kind: 'good', words: `answered by Elasticsearch${behind > 1 ? `, ${behind} blocks behind` : ''}` };
}

function mempoolWords(mempool: Own['mempool']): StatusView['mempool'] {
  const none = { transactions: null, kept: null };
  if (mempool === null) return { kind: 'off', words: 'not followed', ...none };
  const { state, problem, transactions, kept } = mempool;
  if (state === 'following' && problem === null)
    return { kind: 'good', words: 'followed', transactions, kept };
  return { kind: 'busy', words: `not up to date (${state})`, ...none };
}

function paymentWords({ payments, source }: Own): StatusView['payments'] {
  if (payments === null) return { kind: 'off', words: 'no process looks for payments', lagBlocks: null };
  const best = source?.tip?.height ?? null;
  const lagBlocks = best === null ? null : Math.max(0, best - payments.height);
  const isCurrent = lagBlocks === null || lagBlocks <= 1;
  return isCurrent
    ? { kind: 'good', words: 'seen as they arrive', lagBlocks }
    : { kind: 'busy', words: 'blocks are being scanned', lagBlocks };
}

async function webhooksOf(
  pool: AppDependencies['operations']['pool'],
  signal: AbortSignal,
): Promise<StatusView['webhooks']> {
  const { count, oldestSeconds } = await withCutConnection(pool, signal, readWaiting);
  return { waiting: count, oldestSeconds };
}

/**
 * The state of orders in words. The reason is the same as on the order page. A service that takes no orders is not a
 * problem.
 */
async function orderWords(
  pool: AppDependencies['operations']['pool'],
  orders: NonNullable<AppDependencies['orders']> | null,
  signal: AbortSignal,
): Promise<StatusView['orders']> {
  if (orders === null) return { kind: 'off', words: 'not taken here', open: null, stuck: null };
  const { open, stuck } = await withCutConnection(pool, signal, countOrders);
  const counts = { open: [...open.values()].reduce((sum, count) => sum + count, 0), stuck };
  const closed = await orders.whyClosed(signal);
  if (closed !== null) {
    const words = closed.replace(/^this service accepts no orders/u, 'not taken');
    return { kind: counts.open === 0 ? 'off' : 'bad', words, ...counts };
  }
  return (await isAdvisoryLockHeld(pool, 'orders'))
    ? { kind: 'good', words: 'taken and processed', ...counts }
    : { kind: 'bad', words: 'accepted, but not being processed now', ...counts };
}

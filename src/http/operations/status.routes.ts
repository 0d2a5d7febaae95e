import { type Static, Type } from 'typebox';
import {
  type CertainTotals,
  type ChainCounts,
  certainTotals,
  chainCounts,
} from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import type { Operations } from '#http/server/operations.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { readStanding, type Standing } from './chain-lag.ts';
import type { DaySamples } from './day-samples.ts';
import { followerState, type Reason, unreadyReasons } from './readiness.ts';
import { ordStatus, ownStatus, statusAnswer } from './status-answer.ts';
import { statusMarkup } from './status-page.ts';

const nullableInteger = Type.Union([Type.Integer(), Type.Null()]);
const liveAnswer = Type.Object({ status: Type.Literal('ok') });
const reason = Type.Object({
  code: Type.String(),
  message: Type.String(),
  since: Type.Union([Type.String(), Type.Null()]),
});
const readyFacts = Type.Object({
  role: Type.String(),
  /** The state of the follower, or `standby`. `null` if unknown. */
  state: Type.Union([Type.String(), Type.Null()]),
  height: nullableInteger,
  sourceHeight: nullableInteger,
  lagBlocks: nullableInteger,
  lagSeconds: nullableInteger,
  /**
   * Incomplete derived tables, each with the height of its last block. The service may be ready while tables are
   * incomplete.
   */
  catchingUp: Type.Array(Type.Object({ name: Type.String(), height: nullableInteger })),
  /** Parts of this process that do less than usual until the operator acts. The service may be ready meanwhile. */
  degraded: Type.Array(reason),
});
type Facts = Static<typeof readyFacts>;
const readyAnswer = Type.Object({ status: Type.Literal('ok'), ...readyFacts.properties });
const notReadyAnswer = Type.Object({
  status: Type.Literal('error'),
  reason: Type.String(),
  reasons: Type.Array(reason),
  ...readyFacts.properties,
});

const config = { errors: 'plain', guard: open, answersUnderPressure: true } as const;

/** Routes of `/status` and of the health of the process. */
export function statusRoutes(app: App, deps: AppDependencies, samples: DaySamples): void {
  const { network, operations, eventKinds = [inscriptionKind] } = deps;
  const tags = ['status'] as const;
  // use the connections of operations, so that many of these requests do not delay other requests
  const totalsOf = totalsOfTips();
  const status = new SharedMaking((signal) =>
    withSnapshot(
      operations.pool,
      async (snapshot) => {
        const counts = await chainCounts(snapshot.client);
        const totals = await totalsOf(snapshot, counts);
        const { startedAt } = operations;
        return {
          tip: snapshot.tip,
          body: {
            ...(await ordStatus(snapshot, counts.inscriptions, totals, { network, startedAt })),
            satscribe: await ownStatus(snapshot, counts, operations, eventKinds),
          },
        };
      },
      signal,
    ),
  );

  const page = new SharedMaking(async (signal) =>
    statusMarkup(deps, await status.get(signal), samples, signal),
  );
  apiRoute(app, {
    method: 'GET',
    url: '/status',
    schema: {
      operationId: 'status',
      summary: 'The tip, totals, and the source that the index follows',
      tags,
      response: { 200: pageOrJson(statusAnswer, 'the state of the service'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      varyBy(reply, 'Accept');
      const { signal } = askerOf(reply);
      if (prefersHtml(request.headers.accept)) return sendPage(reply, await page.get(signal));
      const { tip, body } = await status.get(signal);
      if (tip !== null) reply.header('x-indexed-height', tip.height);
      return reply.header('cache-control', 'no-cache').send(body);
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/health/live',
    schema: { operationId: 'live', summary: 'The process is alive', tags, response: { 200: liveAnswer } },
    config,
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  });

  readyRoute(app, deps);
}

/**
 * Totals for ord's fields. These are the exact totals if they are known. Otherwise they are the certain minimum, which
 * is counted once per tip.
 */
function totalsOfTips(): (snapshot: Snapshot, counts: ChainCounts) => Promise<CertainTotals> {
  let counted: { readonly tip: Tip; readonly totals: CertainTotals } | null = null;
  return async ({ client, tip }, { blessed, cursed, lostSats }) => {
    if (blessed !== null && cursed !== null && lostSats !== null) return { blessed, cursed, lostSats };
    if (tip === null) return { blessed: 0, cursed: 0, lostSats: asSats(0) };
    const isSame =
      counted?.tip.undoEpoch === tip.undoEpoch && Buffer.compare(counted.tip.hash, tip.hash) === 0;
    if (counted === null || !isSame) counted = { tip, totals: await certainTotals(client) };
    const { totals } = counted;
    return {
      blessed: blessed ?? totals.blessed,
      cursed: cursed ?? totals.cursed,
      lostSats: lostSats ?? totals.lostSats,
    };
  };
}

function readyRoute(app: App, { operations }: AppDependencies): void {
  // log a repeated failure only once, because health is requested every few seconds, even during a problem
  const repeats = new Repeats();
  const standings = new SharedMaking((signal) => readStanding(operations.pool, signal));
  apiRoute(app, {
    method: 'GET',
    url: '/health/ready',
    schema: {
      operationId: 'ready',
      summary: 'The process answers requests, with up-to-date data',
      tags: ['status'],
      response: { 200: readyAnswer, 503: notReadyAnswer },
    },
    config,
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      let silence: Reason | null = null;
      const { signal } = askerOf(reply);
      const standing = await standings.get(signal).catch((error: unknown) => {
        // the client has left, which says nothing about the database
        signal.throwIfAborted();
        silence = databaseReason(error);
        if (repeats.isDue(String(error))) {
          request.log.warn({ err: error }, 'not ready, because the database does not answer');
        }
        return null;
      });
      const facts = factsOf(standing, operations);
      const reasons =
        standing === null ? withoutDatabase(silence, operations) : reasonsOf(standing, operations);
      const [first] = reasons;
      if (first === undefined) return reply.send({ status: 'ok', ...facts });
      return reply
        .code(503)
        .send({ status: 'error', reason: first.message, reasons: shown(reasons), ...facts });
    },
  });
}

/**
 * The reason why the database did not answer. The messages of the database and the system are not shown, only logged.
 */
function databaseReason(error: unknown): Reason {
  const failure = postgresFailure(error);
  const code = failure instanceof AppError ? failure.code : 'postgres_unreachable';
  const message =
    code === 'database_incomplete' ? 'The database lacks a table.' : 'The database does not answer.';
  return { code, message, since: null };
}

/**
 * The reasons to report if the database does not answer. A part of this process may know a more exact reason, for
 * example that the embedded database server is being restarted.
 */
function withoutDatabase(silence: Reason | null, { health }: Operations): readonly Reason[] {
  const own = health.problems();
  const isTold = silence === null || own.some(({ code }) => code === silence.code);
  return isTold ? own : [...own, silence];
}

function reasonsOf(
  standing: Standing,
  { health, role, lagMaxBlocks, standsBy }: Operations,
): readonly Reason[] {
  const own = health.problems();
  // a standby process is ready to take over, so problems that the active process reports do not matter for it
  if (role === 'indexer' && standsBy()) return own;
  return unreadyReasons(standing, own, { lagMaxBlocks });
}

function factsOf(standing: Standing | null, { role, standsBy, health }: Operations): Facts {
  const unknown = {
    state: null,
    height: null,
    sourceHeight: null,
    lagBlocks: null,
    lagSeconds: null,
    catchingUp: [],
    degraded: shown(health.degraded()),
  };
  if (standing === null) return { role, ...unknown };
  const { status, tip, lag, behind } = standing;
  return {
    role,
    state: role === 'indexer' && standsBy() ? 'standby' : followerState(standing),
    height: tip === null ? null : tip.height,
    sourceHeight: status?.sourceTip?.height ?? null,
    lagBlocks: lag === null ? null : lag.blocks,
    lagSeconds: lag === null ? null : lag.seconds,
    catchingUp: behind.map(({ name, tip: reached }) => ({ name, height: reached?.height ?? null })),
    degraded: shown(health.degraded()),
  };
}

function shown(reasons: readonly Reason[]): Static<typeof reason>[] {
  return reasons.map(({ code, message, since }) => ({ code, message, since: since?.toISOString() ?? null }));
}

import { type Static, Type } from 'typebox';
import { chainCounts } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { Repeats } from '#kernel/repeats.ts';
import { readStanding, type Standing } from './chain-lag.ts';
import type { Operations } from './operations.ts';
import { type Reason, unreadyReasons } from './readiness.ts';
import { ordStatus, ownStatus, statusAnswer } from './status-answer.ts';

const nullableInteger = Type.Union([Type.Integer(), Type.Null()]);
const liveAnswer = Type.Object({ status: Type.Literal('ok') });
const readyFacts = Type.Object({
  role: Type.String(),
  /** Of the follower, or `standby`; null: not known. */
  state: Type.Union([Type.String(), Type.Null()]),
  height: nullableInteger,
  sourceHeight: nullableInteger,
  lagBlocks: nullableInteger,
  lagSeconds: nullableInteger,
  /** Derived tables that are being made, and the height of the last block that each has. They do not make it unready. */
  catchingUp: Type.Array(Type.Object({ name: Type.String(), height: nullableInteger })),
});
type Facts = Static<typeof readyFacts>;
const readyAnswer = Type.Object({ status: Type.Literal('ok'), ...readyFacts.properties });
const notReadyAnswer = Type.Object({
  status: Type.Literal('error'),
  reason: Type.String(),
  reasons: Type.Array(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      since: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  ...readyFacts.properties,
});

/** `/status` and the health of the process. */
export function statusRoutes(app: App, deps: AppDependencies): void {
  const { pool, network, operations } = deps;
  const tags = ['status'];

  app.route({
    method: 'GET',
    url: '/status',
    schema: {
      operationId: 'status',
      summary: 'The tip, totals, and what the index follows',
      tags,
      response: { 200: statusAnswer },
    },
    config: { answersUnderPressure: true },
    handler: async (_request, reply) =>
      withSnapshot(pool, async (snapshot) => {
        if (snapshot.tip !== null) reply.header('x-indexed-height', snapshot.tip.height);
        const counts = await chainCounts(snapshot.client);
        return reply.header('cache-control', 'no-cache').send({
          ...(await ordStatus(snapshot, counts, network, operations.startedAt)),
          satscribe: await ownStatus(snapshot, counts, operations),
        });
      }),
  });

  app.route({
    method: 'GET',
    url: '/health/live',
    schema: { operationId: 'live', summary: 'The process answers', tags, response: { 200: liveAnswer } },
    config: { answersUnderPressure: true },
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  });

  readyRoute(app, deps);
}

function readyRoute(app: App, { operations }: AppDependencies): void {
  // somebody asks every few seconds, for as long as it lasts
  const repeats = new Repeats();
  app.route({
    method: 'GET',
    url: '/health/ready',
    schema: {
      operationId: 'ready',
      summary: 'Answers come, and they are up to date',
      tags: ['status'],
      response: { 200: readyAnswer, 503: notReadyAnswer },
    },
    config: { answersUnderPressure: true },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const standing = await readStanding(operations.pool).catch((error: unknown) => {
        if (repeats.isDue(String(error))) {
          request.log.warn({ err: error }, 'not ready: the database does not answer');
        }
        return null;
      });
      const facts = factsOf(standing, operations);
      const reasons = reasonsOf(standing, operations);
      const [first] = reasons;
      if (first === undefined) return reply.send({ status: 'ok', ...facts });
      return reply
        .code(503)
        .send({ status: 'error', reason: first.message, reasons: shown(reasons), ...facts });
    },
  });
}

/** `standing` is null where the database does not answer. */
function reasonsOf(
  standing: Standing | null,
  { health, role, lagMaxBlocks, standsBy }: Operations,
): readonly Reason[] {
  const own = health.problems();
  if (standing === null) {
    return [...own, { code: 'postgres_unreachable', message: 'The database does not answer.', since: null }];
  }
  // who only stands by is ready to take over, whatever the one who works says of itself
  if (role === 'indexer' && standsBy()) return own;
  return unreadyReasons(standing, own, { lagMaxBlocks });
}

function factsOf(standing: Standing | null, { role, standsBy }: Operations): Facts {
  const unknown = {
    state: null,
    height: null,
    sourceHeight: null,
    lagBlocks: null,
    lagSeconds: null,
    catchingUp: [],
  };
  if (standing === null) return { role, ...unknown };
  const { status, tip, lag, behind } = standing;
  return {
    role,
    state: role === 'indexer' && standsBy() ? 'standby' : (status?.state ?? null),
    height: tip === null ? null : tip.height,
    sourceHeight: status?.sourceTip?.height ?? null,
    lagBlocks: lag === null ? null : lag.blocks,
    lagSeconds: lag === null ? null : lag.seconds,
    catchingUp: behind.map(({ name, tip: reached }) => ({ name, height: reached?.height ?? null })),
  };
}

function shown(reasons: readonly Reason[]): { code: string; message: string; since: string | null }[] {
  return reasons.map(({ code, message, since }) => ({ code, message, since: since?.toISOString() ?? null }));
}

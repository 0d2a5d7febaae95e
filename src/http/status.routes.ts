import { Type } from 'typebox';
import { chainCounts } from '#chain/block.queries.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { App, AppDependencies } from './app-dependencies.ts';

const nullableInteger = Type.Union([Type.Integer(), Type.Null()]);

// ord's keys, as ord names them; docs/http.md lists those that have no source here
const statusAnswer = Type.Object({
  blessed_inscriptions: nullableInteger,
  chain: Type.String(),
  cursed_inscriptions: nullableInteger,
  height: nullableInteger,
  inscriptions: Type.Integer(),
  lost_sats: nullableInteger,
  satscribe: Type.Object({
    tipHash: Type.Union([Type.String(), Type.Null()]),
    blocks: Type.Integer(),
    islands: Type.Integer(),
  }),
});
const liveAnswer = Type.Object({ status: Type.Literal('ok') });
const readyAnswer = Type.Object({ status: Type.Literal('ok'), height: nullableInteger });
const failure = Type.Object({ status: Type.Literal('error'), reason: Type.String() });

/** `/status` and the health of the process. */
export function statusRoutes(app: App, { pool, network }: AppDependencies): void {
  const tags = ['status'];

  app.route({
    method: 'GET',
    url: '/status',
    schema: { operationId: 'status', summary: 'The tip and totals', tags, response: { 200: statusAnswer } },
    handler: async (_request, reply) =>
      withSnapshot(pool, async ({ client, tip }) => {
        const { inscriptions, blocks, islands, blessed, cursed, lostSats } = await chainCounts(client);
        if (tip !== null) reply.header('x-indexed-height', tip.height);
        return reply.header('cache-control', 'no-cache').send({
          blessed_inscriptions: blessed,
          // ord calls the third test network by the name it had when it was the only one
          chain: network.name === 'testnet3' ? 'testnet' : network.name,
          cursed_inscriptions: cursed,
          height: tip?.height ?? null,
          inscriptions,
          lost_sats: lostSats,
          satscribe: { tipHash: tip === null ? null : displayHash(tip.hash), blocks, islands },
        });
      }),
  });

  app.route({
    method: 'GET',
    url: '/health/live',
    schema: { operationId: 'live', summary: 'The process answers', tags, response: { 200: liveAnswer } },
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  });

  app.route({
    method: 'GET',
    url: '/health/ready',
    schema: {
      operationId: 'ready',
      summary: 'Questions can be answered: the database is there',
      tags,
      response: { 200: readyAnswer, 503: failure },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      try {
        const height = await withSnapshot(pool, async ({ tip }) => tip?.height ?? null);
        return await reply.send({ status: 'ok', height });
      } catch (error) {
        request.log.warn({ err: error }, 'not ready: the database does not answer');
        return reply.code(503).send({ status: 'error', reason: 'the database does not answer' });
      }
    },
  });
}

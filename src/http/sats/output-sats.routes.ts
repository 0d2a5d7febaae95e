import { Type } from 'typebox';
import { outpointOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendJsonInTurns } from '#http/server/budgets/json-in-turns.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { WorkInTurns } from '#kernel/concurrency/turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { outputSatsAnswer, outputSatsView, rangesATurn } from './output-sats.ts';
import { satributesInForce } from './satributes-in-force.ts';

/** Route that finds the sats of an output on request. It needs a node, but no index (docs/satributes.md). */
export function outputSatsRoutes(app: App, deps: AppDependencies): void {
  const { satTracer = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/outputs/:outpoint/sats',
    schema: {
      operationId: 'outputSats',
      summary: 'The sats of an unspent output, traced back to the blocks that mined them',
      tags: ['sats'],
      params: Type.Object({ outpoint: pathParts.outpoint }),
      response: { 200: outputSatsAnswer },
    },
    config: { errors: 'own', guard: open, answersLarge: true },
    handler: async (request, reply) => {
      const { txid, vout } = outpointOf(request.params.outpoint);
      if (satTracer === null)
        throw new AppError(
          'no_node',
          'only a node knows whether an output is unspent, but this server has no node; start it with --node',
        );
      const outpoint = { txid: displayHash(txid), vout };
      const asker = askerOf(reply);
      const traced = await satTracer.trace(outpoint, asker);
      if (traced === null)
        throw new AppError('not_found', `${outpoint.txid}:${vout} is not an unspent output of the chain`);
      reply.header('cache-control', 'no-cache');
      const work = new WorkInTurns(asker.client, rangesATurn);
      const view = await outputSatsView(traced, satributesInForce(deps), work);
      return sendJsonInTurns(reply, view);
    },
  });
}

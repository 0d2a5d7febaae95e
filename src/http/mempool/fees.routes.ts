import { Type } from 'typebox';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { FeeEstimates } from './recommended-fees.ts';

const satsPerVbyte = Type.Integer({ minimum: 1, description: 'sats per virtual byte' });
const feesAnswer = Type.Object({
  fastestFee: satsPerVbyte,
  halfHourFee: satsPerVbyte,
  hourFee: satsPerVbyte,
  economyFee: satsPerVbyte,
  minimumFee: satsPerVbyte,
});

/** Route of fee rates, in the form that public clients expect (docs/mempool.md, "Fees"). */
export function feesRoutes(app: App, { node }: AppDependencies): void {
  const estimates = node == null ? null : new FeeEstimates(node);
  apiRoute(app, {
    method: 'GET',
    url: '/mempool/api/v1/fees/recommended',
    schema: {
      operationId: 'recommendedFees',
      summary: 'Fees by the node’s estimates',
      tags: ['mempool'],
      response: { 200: feesAnswer },
    },
    config: { errors: 'serviceRead', guard: open },
    handler: async (_request, reply) => {
      if (estimates === null)
        throw new AppError('no_node', 'fees come from a node, but this server has no node');
      reply.header('cache-control', 'no-cache');
      return estimates.recommended();
    },
  });
}

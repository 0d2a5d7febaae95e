import { Type } from 'typebox';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds } from '#http/server/access/guard.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { readPayment } from '#psbts/submitting/read-payment.ts';
import { submitPayment } from '#psbts/submitting/submit-payment.ts';

const submitBody = Type.Object({
  hex: Type.Optional(
    Type.String({
      description:
        'a signed transaction in hex that pays the charge of an open order, or a deposit of its parents; required',
      acceptedForm: { type: 'string', pattern: '^([0-9A-Fa-f]{2})+$' },
    }),
  ),
});

const submitAnswer = Type.Object({
  txid: Type.String(),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'what the order still lacks after it, and which parts of it are useless; absent: nothing',
    }),
  ),
});

/** Routes that send signed payments of orders to the network (docs/psbts.md, "Sending"). */
export function submitRoutes(app: App, deps: AppDependencies): void {
  const { pool, network, node = null } = deps;
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/utils/submittx',
    schema: {
      operationId: 'submitTransaction',
      summary: 'Sends a signed transaction that pays an open order; needs a node',
      tags: ['psbts'],
      body: submitBody,
      response: { 200: submitAnswer },
    },
    config: { errors: 'tokenpay', guard: builds },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const transaction = readPayment(request.body.hex ?? '');
      if (typeof transaction === 'string') throw refused(transaction);
      if (node === null)
        throw new AppError('no_node', 'this server has no node to send transactions to; use another server');
      const parts = { pool, node, network, satributes: satributesInForce(deps) };
      const sent = await submitPayment(parts, transaction, askerOf(reply).signal);
      if (sent.kind === 'refused') throw refused(sent.reason);
      const { warnings } = sent;
      return {
        txid: displayHash(transaction.txid),
        ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      };
    },
  });
}

const refused = (message: string): InvalidRequest => new InvalidRequest([{ message, parameter: 'hex' }]);

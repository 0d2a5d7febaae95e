import { Type } from 'typebox';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';

/** Minimum number of sats of an output that nodes relay, whatever its address. */
const satsMin = 546;
/** Maximum number of sats of a payment. It is a third of the coins of a new demo. */
const satsMax = 1_000_000_000;

const body = Type.Object(
  {
    address: Type.String({ minLength: 1, maxLength: 200, description: 'an address of regtest' }),
    sats: Type.Integer({ minimum: satsMin, maximum: satsMax, description: 'the amount to pay' }),
  },
  { additionalProperties: false },
);

/** Route of `POST /demo/pay`. It exists only in a demo with its own node (docs/http.md, "The demo"). */
export function demoRoutes(app: App, { demo = null }: Pick<AppDependencies, 'demo'>): void {
  if (demo === null) return;
  apiRoute(app, {
    method: 'POST',
    url: '/demo/pay',
    schema: {
      operationId: 'demoPay',
      summary: 'Pays an address with coins of the demo',
      tags: ['orders'],
      body,
      response: { 200: Type.Object({ txid: Type.String() }) },
    },
    // no CORS, because pages of other origins must not spend the coins of a demo
    config: { errors: 'plain', guard: open, cors: false },
    handler: async (request, reply) => {
      const { address, sats } = request.body;
      reply.header('cache-control', 'no-store');
      return { txid: await demo.pay(address, sats) };
    },
  });
}

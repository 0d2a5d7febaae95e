import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { createsOrders, readsOrders } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { namedFaults } from '#orders/creating/destination-faults.ts';
import { readReferralRequest } from '#orders/referrals/read-referral.ts';
import { answerOnce, onceHeaders } from './answer-once.ts';
import { refuseFaults, unlessFaulty } from './refuse-faults.ts';

/** Maximum number of characters of a code or an address. No address is longer. */
const charsMax = 200;
const text = (description: string) => Type.String({ maxLength: charsMax, description });

/** A registration with a new code of 128 random bits. Refuses a request that also names a code. */
function withNewCode({ referral, address }: { referral?: unknown; address?: unknown }) {
  if (referral === undefined) return { referral: randomBytes(16).toString('hex'), address };
  const message = 'makeCode creates a new code; leave out either referral or makeCode';
  throw refuseFaults([{ message, parameter: 'makeCode' }]);
}

/**
 * Routes of referral codes. The holder of a code gets a share of the orders that name the code (docs/orders-api.md,
 * "Referrals").
 */
export function referralsRoutes(app: App, deps: AppDependencies): void {
  registrationRoute(app, deps);
  statusRoute(app, deps);
}

function registrationRoute(app: App, { orders = null, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/referrals',
    schema: {
      operationId: 'putReferral',
      summary: 'Registers a referral code, and the address that gets its share',
      tags: ['orders'],
      headers: onceHeaders,
      body: Type.Object({
        referral: Type.Optional(
          text('the code: 1 to 64 letters, digits or signs; required without makeCode'),
        ),
        makeCode: Type.Optional(
          Type.Boolean({
            description: 'true: the answer has a new code that no one can guess; leave out referral then',
          }),
        ),
        address: text('address that gets its share; it cannot be changed'),
      }),
      response: {
        200: Type.Object({
          status: Type.Literal('ok'),
          referral: Type.Optional(Type.String({ description: 'the new code, only with makeCode' })),
        }),
      },
    },
    config: { errors: 'orderWrite', guard: createsOrders, failures: [409, 422, 503] },
    handler: async (request, reply) => {
      if (orders === null) throw new AppError('orders_off', 'this service accepts no orders');
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      return answerOnce(orders, request, asker, async (store) => {
        const { makeCode = false, ...given } = request.body;
        const { referral } = unlessFaulty(
          readReferralRequest(makeCode ? withNewCode(given) : given, network),
        );
        const faults = await namedFaults([['address', referral.script]], (scripts) =>
          orders.ownScriptsAmong(scripts, asker.signal),
        );
        if (faults.length > 0) throw refuseFaults(faults);
        const answer = { status: 'ok' as const, ...(makeCode ? { referral: referral.code } : {}) };
        if (await orders.putReferral(referral, asker.client, (tx) => store(tx, answer))) return answer;
        const message = `The referral ${referral.code} is already registered with another address. Choose another code.`;
        throw refuseFaults([{ message, parameter: 'referral' }]);
      });
    },
  });
}

function statusRoute(app: App, { orders = null, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/referrals',
    schema: {
      operationId: 'referral',
      summary: 'The number of paid orders that named a referral code; needs its address',
      tags: ['orders'],
      querystring: Type.Object({
        referral: Type.Optional(text('the code; required')),
        address: Type.Optional(text('the address that it was registered with; required')),
      }),
      response: {
        200: Type.Object({
          address: Type.String(),
          orderCount: Type.Integer({ description: 'paid orders that named it' }),
          paidCount: Type.Integer({ description: 'delivered orders among them' }),
        }),
      },
    },
    config: { errors: 'orderRead', guard: readsOrders },
    handler: async (request, reply) => {
      const { referral } = unlessFaulty(readReferralRequest(request.query, network));
      const status = (await orders?.referral(referral, askerOf(reply).signal)) ?? null;
      // only clients that know the address of a code learn whether it exists
      if (status === null)
        throw new AppError('not_found', `no such referral ${referral.code} with this address`);
      reply.header('cache-control', 'no-store');
      return { address: status.address, orderCount: status.orders, paidCount: status.paid };
    },
  });
}

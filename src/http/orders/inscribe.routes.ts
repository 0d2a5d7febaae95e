import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { isFromProxy } from '#http/server/access/client.ts';
import { createsOrders } from '#http/server/access/guard.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type CheckingParts, checkOrder, type SentOrder } from '#orders/creating/check-order.ts';
import type { MadeOrder, WantedOrder } from '#orders/creating/create-order.ts';
import { placeOrder } from '#orders/creating/place-order.ts';
import type { QuotingParts } from '#orders/creating/quote-checked-order.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { createdAnswer } from '#orders/customers/order-answer.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { answerOnce, onceHeaders } from './answer-once.ts';
import { unlessFaulty } from './refuse-faults.ts';

/** The answer of a creation: the inputs, and what the service adds. */
const created = Type.Object(
  {
    id: Type.String({ description: 'reads the order: keep it' }),
    status: Type.Literal('ok'),
    state: Type.Literal('waiting-payment'),
    orderType: Type.Literal('direct'),
    charge: Type.Object({ amount: Type.Integer({ description: 'sats' }) }),
    createdAt: Type.Object({ '.sv': Type.Literal('timestamp') }),
    warnings: Type.Optional(Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))),
  },
  { additionalProperties: true },
);

/** Direct orders (docs/orders.md, "Direct orders"). */
export function inscribeRoutes(app: App, deps: AppDependencies): void {
  const { network, pool, inventory = null, prices: settings = defaultPriceSettings } = deps;
  const fetches = fetchPlaces();
  const shared: Omit<CheckingParts & QuotingParts, 'lookups'> = {
    network,
    settings,
    pool,
    inventory,
    satributes: () => satributesInForce(deps),
    takeFetchPlace: (asker) => fetches.take(asker),
  };
  deps.operations.metrics.watchQueue('orders that fetch files', () => fetches.state);
  apiRoute(app, {
    method: 'POST',
    url: '/inscribe',
    bodyLimit: bodyLimits.order,
    schema: {
      operationId: 'inscribe',
      summary: 'Orders inscriptions; read the order for the address to pay',
      tags: ['orders'],
      headers: onceHeaders,
      body: Type.Unknown({
        description: 'files or delegates, and where they go (docs/orders.md, "Direct orders")',
      }),
      response: { 200: created },
    },
    config: {
      errors: 'orderWrite',
      guard: createsOrders,
      longTexts: true,
      failures: [409, 422, 503],
    },
    handler: async (request, reply) => {
      const { orders = null } = deps;
      if (orders === null) throw new AppError('orders_off', 'this service takes no orders');
      reply.header('cache-control', 'no-store');
      return answerOnce(orders, request, async (store) => {
        const asker = askerOf(reply);
        const parts = { ...shared, lookups: orders };
        const checked = unlessFaulty(await checkOrder(parts, sentOrder(request, orders, asker), asker));
        keepWithinRoom(orders, checked.order, reply);
        const create = (wanted: WantedOrder): Promise<MadeOrder> =>
          orders.create(wanted, (tx, made, shown) => store(tx, createdAnswer(made, shown)), asker.signal);
        const { order, files } = unlessFaulty(await placeOrder(parts, checked, create, asker));
        return createdAnswer(order, files) as never;
      });
    },
  });
}

/** The order of a request. */
const sentOrder = (request: FastifyRequest, { publicOrigin }: CustomerOrders, asker: Asker): SentOrder => ({
  body: request.body,
  origin: originOf(request, publicOrigin),
  // all requests through a proxy that names no client count as one
  reservingClient: isFromProxy(request) ? 'proxy' : asker.client,
});

/**
 * Orders whose files are fetched at once: each holds one of the places of all requests (`limits.requests`) for a minute
 * if the server of its files is slow, and look-ups must not wait for such servers.
 */
const fetchesMax = 8;
/** Of one client: four of them take all places. */
const fetchesEach = 2;

function fetchPlaces(): Shares {
  return new Shares({
    what: 'orders with files at URLs',
    total: fetchesMax,
    each: fetchesEach,
    full: (message) =>
      new AppError('overloaded', `${message}: try again in a minute, or send files as dataURL`),
  });
}

/** Throws `rate_limited`. */
function keepWithinRoom(
  orders: CustomerOrders,
  { files }: Pick<WantedOrder, 'files'>,
  reply: FastifyReply,
): void {
  const lengths = files.map((file) => file?.content.length ?? 0);
  const seconds = Math.ceil(orders.takeRoom(askerOf(reply).client, lengths) / 1000);
  if (seconds === 0) return;
  reply.header('retry-after', seconds);
  throw new AppError(
    'rate_limited',
    `the files of your orders are more than this service keeps of one client in a day; again in ${seconds} s`,
  );
}

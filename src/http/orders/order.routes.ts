import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { readsOrders } from '#http/server/access/guard.ts';
import { type JsonPart, sendPartsInTurns } from '#http/server/budgets/json-in-turns.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { jsonText, pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { fileAnswers, type OrderProgress, onlyFileOf, orderFields } from '#orders/customers/order-answer.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { order } from './order.schemas.ts';
import { sendMisplaced, sendOrderPage } from './order-pages.ts';

const exampleOrder = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
const orderId = Type.String({ description: 'the id of an order', examples: [exampleOrder] });

/** True, because an order of 10,000 files is read from 10,000 database rows, and its JSON has 4 MB. */
const isDear = true;

/** Sends an order. Throws `not_found`. */
type SendOrder = (reply: FastifyReply, id: string) => Promise<FastifyReply>;

/** Routes that read and cancel orders (docs/orders-api.md). */
export function orderRoutes(app: App, deps: AppDependencies): void {
  const { orders = null, network } = deps;
  const send: SendOrder = async (reply, id) => {
    const { signal } = askerOf(reply);
    const found = orders === null || !isOrderId(id) ? null : await orders.read(id, signal);
    // an id gives access like a key, so it is never given to others and never logged
    if (found === null) throw new AppError('not_found', `no such order ${id.slice(0, 64)}`);
    reply.header('cache-control', 'no-store');
    const origin = originOf(reply.request, orders?.publicOrigin ?? null);
    return sendPartsInTurns(reply, orderParts(found, network, origin));
  };
  apiRoute(app, {
    method: 'GET',
    url: '/order',
    schema: {
      operationId: 'order',
      summary: 'An order, with its charge and its progress',
      tags: ['orders'],
      querystring: Type.Object({
        id: Type.Optional(Type.String({ description: 'the id of an order; required' })),
      }),
      response: {
        200: pageOrJson(order, 'the order; for browsers without id the page that shows orders'),
        304: unchanged,
      },
    },
    config: { errors: 'orderRead', guard: readsOrders, isDear },
    handler: async (request, reply) => {
      const { id } = request.query;
      if (id === undefined && prefersHtml(request.headers.accept)) return sendOrderPage(reply, deps);
      varyBy(reply, 'Accept');
      if (id === undefined || id === '')
        throw new InvalidRequest([{ message: 'id is required.', parameter: 'id' }]);
      return send(reply, id);
    },
  });
  apiRoute(app, {
    method: 'GET',
    url: '/order/:id',
    schema: {
      operationId: 'orderByPath',
      summary: 'An order, by the id in the path',
      tags: ['orders'],
      params: Type.Object({ id: orderId }),
      response: {
        200: pageOrJson(order, 'the order; for browsers a page that asks for its id'),
        304: unchanged,
      },
    },
    config: { errors: 'orderRead', guard: readsOrders, isDear },
    handler: async (request, reply) => {
      if (prefersHtml(request.headers.accept)) return sendMisplaced(reply);
      varyBy(reply, 'Accept');
      return send(reply, request.params.id);
    },
  });
  cancelRoute(app, orders, send);
}

/** Adds the path that cancels an order. Its handler throws `order_refuses`. */
function cancelRoute(app: App, orders: CustomerOrders | null, send: SendOrder): void {
  apiRoute(app, {
    method: 'POST',
    url: '/order/cancel',
    schema: {
      operationId: 'cancelOrder',
      summary: 'Cancels an unpaid order, or a repriced one',
      tags: ['orders'],
      body: Type.Object({ id: orderId }),
      response: { 200: jsonText(order, 'the order') },
    },
    config: { errors: 'orderWrite', guard: readsOrders, isDear, failures: [409] },
    handler: async (request, reply) => {
      const { id } = request.body;
      if (!isOrderId(id) || (await needed(orders).read(id, askerOf(reply).signal)) === null)
        return send(reply, id);
      if (!(await needed(orders).cancel(id)))
        throw new AppError(
          'order_refuses',
          'the order cannot be cancelled, because a payment has arrived, or the order has ended',
        );
      return send(reply, id);
    },
  });
}

function needed(orders: CustomerOrders | null): CustomerOrders {
  if (orders === null) throw new AppError('orders_off', 'this service accepts no orders');
  return orders;
}

/** The answer to GET /order in parts. There is one part per file, because 10,000 files make seven megabytes. */
export function* orderParts(
  found: { readonly order: Order } & OrderProgress,
  network: NetworkParameters,
  origin: string,
): Generator<JsonPart> {
  const { order: read } = found;
  const fields = JSON.stringify({ ...orderFields(read, found, network, origin), ...onlyFileOf(read, found) });
  const answerOf = fileAnswers(found.order, found);
  yield `${fields.slice(0, -1)},"files":[`;
  for (const [place, file] of found.files.entries())
    yield `${place === 0 ? '' : ','}${JSON.stringify(answerOf(file))}`;
  yield ']}';
}

import { type Static, Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { createsOrders, readsOrders } from '#http/server/access/guard.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { webhookStates } from '#webhooks/webhook.ts';
import type { Webhook } from '#webhooks/webhooks.queries.ts';

const orderId = Type.String({
  description: 'the id of an order',
  examples: ['6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11'],
});
/** Maximum number of messages in one answer. */
const eventsMax = 100;
/** Maximum sequence number in a request. No event of an order has a sequence number this high. */
const sequenceMax = 1_000_000_000;

const event = Type.Object({
  sequence: Type.Integer({ description: 'x-satscribe-sequence: 1, 2, 3 and so on, without gaps' }),
  webhookId: Type.String({ description: 'webhook-id: the same in all tries' }),
  createdAt: Type.Integer({ description: 'milliseconds since 1970' }),
  body: Type.Object({}, { additionalProperties: true, description: 'the body as it is sent' }),
  delivery: Type.Enum([...webhookStates]),
  tries: Type.Integer(),
  triedAt: Type.Optional(Type.Integer({ description: 'time of the last try, in milliseconds since 1970' })),
  status: Type.Optional(Type.Integer({ description: 'HTTP status of the answer to the last try' })),
  error: Type.Optional(Type.String({ description: 'why the last try failed' })),
  nextTryAt: Type.Optional(Type.Integer()),
});
type Event = Static<typeof event>;

/**
 * Routes of the webhook messages about an order's events. These messages also exist for an order without a webhook URL
 * (docs/webhooks.md).
 */
export function orderEventsRoutes(app: App, { orders = null }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/order/events',
    schema: {
      operationId: 'orderEvents',
      summary: `Webhook messages of an order, oldest first, at most ${eventsMax}`,
      tags: ['orders'],
      querystring: Type.Object({
        id: Type.Optional(Type.String({ description: 'the id of an order; required' })),
        after: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: sequenceMax,
            default: 0,
            description:
              'only messages after this sequence; send the sequence of the last message of the previous answer',
          }),
        ),
      }),
      response: {
        200: Type.Object({ id: Type.String(), status: Type.Literal('ok'), events: Type.Array(event) }),
      },
    },
    config: { errors: 'orderRead', guard: readsOrders },
    handler: async (request, reply) => {
      const { id = '', after = 0 } = request.query;
      if (id === '') throw new InvalidRequest([{ message: 'id is required.', parameter: 'id' }]);
      const { signal } = askerOf(reply);
      const told =
        orders === null || !isOrderId(id) ? null : await orders.events(id, after, eventsMax, signal);
      if (told === null) throw unknownOrder(id);
      reply.header('cache-control', 'no-store');
      return { id, status: 'ok' as const, events: told.map(eventOf) };
    },
  });
  apiRoute(app, {
    method: 'POST',
    url: '/order/events/replay',
    schema: {
      operationId: 'replayOrderEvents',
      summary: 'Sends the webhook messages of an order to its webhookUrl again',
      tags: ['orders'],
      body: Type.Object({
        id: orderId,
        from: Type.Union(
          [Type.Integer({ minimum: 1, maximum: sequenceMax }), Type.String({ pattern: '^[1-9][0-9]{0,8}$' })],
          { description: 'the sequence of the first message' },
        ),
      }),
      response: {
        200: Type.Object({
          id: Type.String(),
          status: Type.Literal('ok'),
          waiting: Type.Integer({
            description: 'number of messages that are sent now; 0: the order has no webhookUrl',
          }),
        }),
      },
    },
    // one request may send many messages, so it counts like a new order in the limits
    config: { errors: 'orderWrite', guard: createsOrders },
    handler: async (request, reply) => {
      const { id, from } = request.body;
      const waiting = orders === null || !isOrderId(id) ? null : await orders.replayEvents(id, Number(from));
      if (waiting === null) throw unknownOrder(id);
      reply.header('cache-control', 'no-store');
      return { id, status: 'ok' as const, waiting };
    },
  });
}

function eventOf({ sequence, id, body, createdAt, state, tries, ...last }: Webhook): Event {
  const { triedAt, status, error, nextTryAt } = last;
  return {
    sequence,
    webhookId: id,
    createdAt: createdAt.getTime(),
    body: JSON.parse(body) as Event['body'],
    delivery: state,
    tries,
    ...(triedAt === null ? {} : { triedAt: triedAt.getTime() }),
    ...(status === null ? {} : { status }),
    ...(error === null ? {} : { error }),
    ...(nextTryAt === null ? {} : { nextTryAt: nextTryAt.getTime() }),
  };
}

const unknownOrder = (id: string): AppError => new AppError('not_found', `no such order ${id.slice(0, 64)}`);

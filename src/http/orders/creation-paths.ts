import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { usdOf } from '#fx/fx-rates.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { createsOrders } from '#http/server/access/guard.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import type { ErrorFormName } from '#http/server/errors/error-forms.ts';
import { originOf, ownOriginsOf } from '#http/server/headers/request-origin.ts';
import { bodyLimits, limits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { OrderedItems } from '#orders/collections/ordered-items.ts';
import { type CheckingParts, checkOrder, type SentOrder } from '#orders/creating/check-order.ts';
import type { MadeOrder, WantedOrder } from '#orders/creating/create-order.ts';
import { placeOrder } from '#orders/creating/place-order.ts';
import type { QuotingParts } from '#orders/creating/quote-checked-order.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { createdAnswer } from '#orders/customers/order-answer.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { contentFields } from '#orders/reading/read-files.ts';
import { textFields } from '#orders/reading/read-texts.ts';
import { answerOnce, onceHeaders } from './answer-once.ts';
import { unlessFaulty } from './refuse-faults.ts';

/** A path that creates orders of one type. */
export interface CreationPath extends Pick<SentOrder, 'type' | 'contents'> {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body: TSchema;
  readonly errors: ErrorFormName;
  readonly answer: TSchema;
  /** Error statuses of this path, in addition to the error statuses of all paths that create orders. */
  readonly failures?: readonly number[];
  /**
   * Holds the items that the order inscribes, if the body names items and has no contents. Absent if the body has
   * contents.
   */
  readonly hold?: (orders: CustomerOrders, request: FastifyRequest, asker: Asker) => Promise<OrderedItems>;
}

/** Adds paths that create orders of any type. All paths share the limits of slow work. */
export function creationPaths(deps: AppDependencies): (app: App, path: CreationPath) => void {
  const { network, pool, inventory = null, prices: settings = defaultPriceSettings } = deps;
  const fetches = fetchPlaces();
  const long = longPlace();
  const shared: Omit<
    CheckingParts & QuotingParts,
    'lookups' | 'own' | 'reservedMost' | 'takeFetchPlace' | 'takeLongPlace'
  > = {
    network,
    settings,
    pool,
    inventory,
    satributes: () => satributesInForce(deps),
  };
  deps.operations.metrics.watchQueue('orders that fetch files', () => fetches.state);
  deps.operations.metrics.watchQueue('orders with long contents', () => long.state);
  return (app, path) => {
    const { url, operationId, summary, body, errors, answer } = path;
    apiRoute(app, {
      method: 'POST',
      url,
      bodyLimit: bodyLimits.order,
      schema: {
        operationId,
        summary,
        tags: ['orders'],
        headers: onceHeaders,
        body,
        response: { 200: answer },
      },
      config: {
        errors,
        guard: createsOrders,
        longTexts: path.contents === 'texts' ? [...textFields, ...contentFields] : contentFields,
        failures: [409, 422, 503, ...(path.failures ?? [])],
      },
      handler: async (request, reply) => {
        const { orders = null } = deps;
        if (orders === null) throw new AppError('orders_off', 'this service accepts no orders');
        reply.header('cache-control', 'no-store');
        const asker = askerOf(reply);
        return answerOnce(orders, request, asker, async (store) => {
          const takeFetchPlace = (): void => {
            fetches.take(asker);
            restartSilence(request);
          };
          const takeLongPlace = async (): Promise<void> => {
            asker.whenMade(await long.enter(asker));
          };
          const { reservedMost } = orders;
          const own = orders.ownFiles(ownOriginsOf(request, orders.publicOrigin));
          const parts = { ...shared, lookups: orders, own, reservedMost, takeFetchPlace, takeLongPlace };
          const items = (await path.hold?.(orders, request, asker)) ?? null;
          const sent = sentOrder(request, path, orders.publicOrigin, items);
          const answerOf = (made: MadeOrder): object => createdAnswer(made.order, made, sent.origin);
          try {
            const checked = unlessFaulty(await checkOrder(parts, sent, asker));
            const create = async (wanted: WantedOrder): Promise<MadeOrder> =>
              orders.create(await withDollars(deps, wanted), (tx, made) => store(tx, answerOf(made)), asker);
            const placing = { ...parts, miner: orders.miner };
            return answerOf(unlessFaulty(await placeOrder(placing, checked, create, asker))) as never;
          } catch (error) {
            // an order may have been stored in spite of the error; its hold then stays, because only unused holds are
            // given up
            if (items !== null) await orders.giveUpItems(items);
            throw error;
          }
        });
      },
    });
  };
}

/**
 * The requested order. If its charge shows dollars and the rate is known, the order gets its current amount in dollars.
 */
async function withDollars({ fxRates }: AppDependencies, wanted: WantedOrder): Promise<WantedOrder> {
  const { terms, quote } = wanted;
  if (terms.type !== 'bulk' || fxRates === undefined || fxRates === null) return wanted;
  const rate = (await fxRates())?.usd.get('bitcoin');
  const dollars = rate === undefined ? null : usdOf(BigInt(quote.amount), rate);
  return dollars === null ? wanted : { ...wanted, quote: { ...quote, fiatValue: dollars } };
}

/**
 * Restarts the idle timeout of a connection, because the request may have waited long for its turn. A fetch ends before
 * this timeout (`fetchedWithinMs`).
 */
function restartSilence({ raw: { socket } }: FastifyRequest): void {
  // an injected request of a test has no connection
  if (socket instanceof Socket) socket.setTimeout(limits.idleTimeoutMs);
}

/** The order that a request asks for. */
const sentOrder = (
  request: FastifyRequest,
  { type, contents }: CreationPath,
  publicOrigin: string | null,
  items: OrderedItems | null,
): SentOrder => ({
  type,
  contents,
  items,
  body: request.body,
  origin: originOf(request, publicOrigin),
});

/**
 * Maximum number of orders whose files are fetched at the same time. If a file server is slow, such an order stays
 * among the `limits.requests` requests for a minute, and quick requests must not wait for slow file servers.
 */
const fetchesMax = 8;
/** Maximum number of orders of one client whose files are fetched at the same time. */
const fetchesEach = 2;
/**
 * Maximum number of orders of one network whose files are fetched at the same time. A network has thousands of IP
 * addresses, so half of `fetchesMax` is left for everyone else.
 */
const fetchesEachNetwork = 4;

/**
 * The gate for orders with long contents. One order is made at a time, and clients take turns, because each order takes
 * up to 150 MB and a second or two.
 */
function longPlace(): FairGate {
  return new FairGate({
    running: 1,
    waiting: limits.largeBodies,
    waitMs: limits.requestWaitMs,
    refusal: () =>
      new AppError('overloaded', 'too many orders with long contents are being made; try again in a minute'),
  });
}

function fetchPlaces(): Shares {
  return new Shares({
    what: 'orders with files at URLs',
    total: fetchesMax,
    each: fetchesEach,
    eachNetwork: fetchesEachNetwork,
    full: (message) =>
      new AppError('overloaded', `${message}; try again in a minute, or send files as dataURL`),
  });
}

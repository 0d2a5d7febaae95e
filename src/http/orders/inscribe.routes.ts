import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { isFromProxy } from '#http/server/access/client.ts';
import { createsOrders } from '#http/server/access/guard.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { InventoryType } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { SentFile, WantedOrder } from '#orders/creating/create-order.ts';
import type { FetchedContents } from '#orders/creating/fetch-contents.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { createdAnswer } from '#orders/customers/order-answer.ts';
import type { FileTerms, OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { OrderQuote } from '#orders/inscribing/quote-order.ts';
import { burnFaults, feeFaults } from '#orders/pricing/fee-faults.ts';
import { namedInscriptionFaults } from '#orders/pricing/named-inscriptions.ts';
import { defaultPriceSettings, type PriceSettings, pricesOf, quoted } from '#orders/pricing/prices.ts';
import { offerSat } from '#orders/pricing/stocked-sats.ts';
import { encodeContents } from '#orders/reading/encode-contents.ts';
import { type OrderExtras, readExtras } from '#orders/reading/read-extras.ts';
import type { ReadFile } from '#orders/reading/read-files.ts';
import { type ReadOrder, readOrderRequest } from '#orders/reading/read-order.ts';
import { commonSats, rareSatsFaults, readRareSats } from '#orders/reading/read-rare-sats.ts';
import { satributeFaults } from '#orders/reading/read-satributes.ts';
import type { RequestFault } from '#orders/reading/request-values.ts';
import type { NodePolicy } from '#orders/sending/node-policy.store.ts';
import { answerOnce, onceHeaders } from './answer-once.ts';
import { refuseFaults, unlessFaulty } from './refuse-faults.ts';

/** An order must be paid within this time: meanwhile nobody else has its sat. */
const reservedMinutes = 30;

/** The answer of a creation: the inputs, and what the service adds. */
const created = Type.Object(
  {
    id: Type.String({ description: 'reads the order: keep it' }),
    status: Type.Literal('ok'),
    state: Type.Literal('waiting-payment'),
    orderType: Type.Literal('direct'),
    charge: Type.Object({ amount: Type.Integer({ description: 'sats' }) }),
    createdAt: Type.Object({ '.sv': Type.Literal('timestamp') }),
  },
  { additionalProperties: true },
);

/** Bodies that are compressed before an order is answered: a few hundred milliseconds of a thread. */
const compressMax = 4_000_000;

/**
 * 50 MB of files take 130 reveals. Each is an address to prove (3 ms) and a transaction to sign (16 ms); all other
 * orders wait for that.
 */
const revealsMax = 150;

/** Direct orders (docs/orders.md, "Direct orders"). */
export function inscribeRoutes(app: App, deps: AppDependencies): void {
  const fetches = fetchPlaces();
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
      const { orders = null, prices = defaultPriceSettings } = deps;
      if (orders === null) throw new AppError('orders_off', 'this service takes no orders');
      reply.header('cache-control', 'no-store');
      return answerOnce(orders, request, async (store) => {
        const asker = askerOf(reply);
        const asked = await askedOrder({ deps, orders, prices, fetches }, request, asker);
        keepWithinRoom(orders, asked, reply);
        for (let tries = 1; ; tries++) {
          const wanted = await wantedOrder({ deps, prices }, asked, asker);
          try {
            const { order, files } = await orders.create(
              wanted,
              (tx, made, shown) => store(tx, createdAnswer(made, shown)),
              asker.signal,
            );
            return createdAnswer(order, files) as never;
          } catch (error) {
            // another order was sooner: there may be another sat
            const isTaken = error instanceof AppError && error.code === 'inventory_taken';
            if (!isTaken || tries === offersMax) throw error;
          }
        }
      });
    },
  });
}

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

const isAtUrl = ({ body, metadata }: ReadFile): boolean => body?.kind === 'url' || metadata?.kind === 'url';

/** Sats of the inventory that are offered to an order one after the other, if others take them. */
const offersMax = 5;

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

interface OrderParts {
  readonly deps: AppDependencies;
  readonly orders: CustomerOrders;
  readonly prices: PriceSettings;
  readonly fetches: Shares;
}

/** An order without faults of its own, whose contents are there. */
interface AskedOrder extends Omit<WantedOrder, 'layout' | 'quote' | 'request' | 'stocked'> {
  readonly read: ReadOrder;
  readonly extras: OrderExtras;
  readonly policy: NodePolicy | null;
  /** The type of sats of the inventory that it wants; null: none. */
  readonly satType: InventoryType | null;
  /**
   * Whose unpaid reservations count together: all requests through a proxy that names no client count as one.
   */
  readonly reservingClient: string;
}

async function askedOrder(
  { deps, orders, prices, fetches }: OrderParts,
  request: FastifyRequest,
  asker: Asker,
): Promise<AskedOrder> {
  const { network } = deps;
  const read = readOrderRequest(request.body, {
    network,
    type: 'direct',
    nonStandard: prices.nonStandard,
    purpose: 'order',
  });
  const isReserving = read.kind === 'read' && read.rareSats !== commonSats;
  const extras = readExtras(request.body, {
    network,
    satributes: satributesInForce(deps),
    timeoutMinutes: isReserving ? reservedMinutes : orders.timeoutMinutes,
    ...(isReserving ? { timeoutMostMinutes: reservedMinutes } : {}),
    urlProblem: (url) => orders.urlProblem(url),
  });
  if (read.kind === 'faulty') throw refuseFaults([...read.faults, ...extras.faults]);
  const { type: satType } = unlessFaulty(readRareSats(read.rareSats));
  const { allowedSatributes } = extras.request(0n, 0);
  const policy = await orders.nodePolicy(asker.signal);
  refuseAny([
    ...extras.faults,
    ...rareSatsFaults(satType, read.terms, allowedSatributes),
    ...satributeFaults(allowedSatributes, read.terms),
    ...feeFaults(read.terms, policy),
    ...burnFaults(read.terms, policy),
    ...(await referralFaults(orders, read, asker)),
  ]);
  refuseAny(await namedInscriptionFaults(deps.pool, read.terms, asker));
  if (read.files.some(isAtUrl)) fetches.take(asker);
  const contents = await orders.fetch(read.files, asker.signal);
  refuseAny(contents.faults);
  const encoded = await encodeContents(read, { bodies: 'bytes', compressMax, asker });
  if (encoded.kind === 'faulty') throw refuseFaults(encoded.faults);
  const terms = withFetched(encoded.terms, contents);
  const origin = orders.publicOrigin ?? `${request.protocol}://${request.host}`;
  return {
    read,
    extras,
    policy,
    satType,
    terms,
    files: read.files.map((file, index) => sentFile(file, terms.files[index])),
    webhookUrl: extras.webhookUrl,
    refundScript: extras.refundScript,
    timeoutMinutes: extras.timeoutMinutes,
    filesUrl: (key) => `${origin}/files/${encodeURIComponent(key)}`,
    reservingClient: isFromProxy(request) ? 'proxy' : asker.client,
  };
}

/** With its price, and with a sat of the inventory where it wants one. */
async function wantedOrder(
  { deps, prices }: Pick<OrderParts, 'deps' | 'prices'>,
  { read, extras, policy, satType, reservingClient, ...asked }: AskedOrder,
  asker: Asker,
): Promise<WantedOrder> {
  const stocked =
    satType === null
      ? null
      : await offerSat({ ...deps, inventory: deps.inventory ?? null }, satType, asked.terms, asker);
  const offered = stocked === null ? null : unlessFaulty(stocked);
  const { terms, fee: rareSatsFee } = offered ?? { terms: asked.terms, fee: 0n };
  const quote = unlessFaulty(quoted(terms, { ...pricesOf('direct', prices), rareSatsFee }));
  if (quote.layout.reveals.length > revealsMax)
    throw refuseFaults([
      {
        message: `The order takes ${quote.layout.reveals.length} reveals, and one order has at most ${revealsMax}: order its files in parts, or without uncurseIt.`,
        parameter: 'files',
      },
    ]);
  return {
    ...asked,
    terms,
    layout: quote.layout,
    stocked: offered === null ? null : { sat: offered.sat, ofType: offered.ofType, client: reservingClient },
    request: {
      ...extras.request(quote.postage, terms.files.length),
      payToAnchor: terms.burn,
      inscriptionIdPrefix: read.inscriptionIdPrefix,
      ...referralOf(read),
      // as it was sent: clients compare it with what they have
      ...(satType === null ? {} : { rareSats: read.rareSats }),
    },
    quote: storedQuote(quote, { read, policy, prices }),
  };
}

/** As the order keeps it. */
function storedQuote(
  quote: OrderQuote,
  { read, policy, prices }: Pick<AskedOrder, 'read' | 'policy'> & Pick<OrderParts, 'prices'>,
): WantedOrder['quote'] {
  return {
    chainFee: Number(quote.chainFee),
    serviceFee: Number(quote.serviceFee),
    baseFee: Number(quote.baseFee),
    ...(quote.rareSatsFee === 0n ? {} : { rareSatsFee: Number(quote.rareSatsFee) }),
    additionalFeeCharged: Number(quote.additionalFeeCharged),
    postage: Number(quote.postage),
    amount: Number(quote.amount),
    ...(read.referral === null ? {} : { referralFee: referralFee(quote, prices) }),
    // a customer who asks for less chooses to wait: only the rise of fees since then is the service's
    ...(policy?.estimate == null ? {} : { feeEstimate: Number(policy.estimate) }),
  };
}

/** Throws `request_invalid` where there are any. */
function refuseAny(faults: readonly RequestFault[]): void {
  if (faults.length > 0) throw refuseFaults(faults);
}

/** Who names a referral that nobody registered would pay for nobody. */
async function referralFaults(
  orders: CustomerOrders,
  { referral }: ReadOrder,
  { signal }: Asker,
): Promise<RequestFault[]> {
  if (referral === null || (await orders.isReferral(referral, signal))) return [];
  const message = `The referral ${referral.slice(0, 64)} is not known: POST /referrals registers one.`;
  return [{ message, parameter: 'referral' }];
}

/** As answers show them. */
const referralOf = ({ referral, terms }: ReadOrder) => ({
  referral,
  additionalFee: terms.additionalFee > 0n ? Number(terms.additionalFee) : null,
});

/** Once an order, however many files it has; rounded in favour of the service. */
const referralFee = ({ baseFee }: OrderQuote, { referralPercent }: PriceSettings): number =>
  Number((baseFee * BigInt(referralPercent)) / 100n);

function withFetched(terms: OrderTerms, { bodies, metadata }: FetchedContents): OrderTerms {
  if (bodies.size === 0 && metadata.size === 0) return terms;
  const files = terms.files.map(
    (file, index): FileTerms => ({
      ...file,
      body: bodies.get(index) ?? file.body,
      metadata: metadata.get(index) ?? file.metadata,
    }),
  );
  return { ...terms, files };
}

function sentFile({ name, terms }: ReadFile, made: FileTerms | undefined): SentFile | null {
  const body = made?.body;
  if (name === null || !(body instanceof Uint8Array)) return null;
  return {
    name,
    content: body,
    mediaType: terms.contentType ?? 'application/octet-stream',
    shown: {
      name,
      size: body.length,
      type: terms.contentType,
      mimeType: terms.contentType,
      metadataSize: made?.metadata instanceof Uint8Array ? made.metadata.length : null,
    },
  };
}

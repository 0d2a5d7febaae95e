import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { priceReads } from '#http/server/access/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { InvalidRequest } from '#http/server/requests/validation.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { type FileTerms, type OrderTerms, orderBounds } from '#orders/inscribing/order-terms.ts';
import { feeWarnings } from '#orders/pricing/fee-faults.ts';
import { savingsOf } from '#orders/pricing/savings.ts';
import { encodeContents } from '#orders/reading/encode-contents.ts';
import { readBatchMode, readOrderRequest } from '#orders/reading/read-order.ts';
import { RequestValues } from '#orders/reading/request-values.ts';
import { legacyAnswer, priceAnswer, priceBody, priceQuery } from './price.schemas.ts';
import { legacyOf, planOf, priceOf } from './price-answers.ts';
import { defaultPriceSettings, pricesOf, quoted, rareSatsFeeOf, refuseFaults } from './prices.ts';
import { commonSats, readSatType, satTypeFaults, stockedOrder } from './stocked-sats.ts';

const tags = ['orders'] as const;
/** Bodies that are compressed to know their price: brotli takes about a second a megabyte. */
const compressMax = 300_000;

/** What orders cost (docs/orders.md, "Prices"). Needs no wallet. */
export function priceRoutes(app: App, deps: AppDependencies): void {
  const { network, search, prices: settings = defaultPriceSettings } = deps;
  apiRoute(app, {
    method: 'GET',
    url: '/price',
    schema: {
      operationId: 'legacyPrice',
      summary: 'What an order of text files costs; POST knows the price of any order',
      tags,
      querystring: priceQuery,
      response: { 200: legacyAnswer },
    },
    config: { errors: 'orderRead', guard: priceReads },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { terms: asked, rareSats, baseFee } = readQuery(request.query);
      const asker = askerOf(reply);
      await nextTurn(asker.client);
      const own = pricesOf(asked.type, settings);
      const { terms, rareSatsFee } = await satPrice(deps, rareSats, asked, asker);
      const prices = { ...own, baseFee: baseFee ?? own.baseFee, rareSatsFee };
      return legacyOf(quoted(terms, prices), terms.additionalFee);
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/price',
    schema: {
      operationId: 'price',
      summary: 'What an order costs, to the sat',
      tags,
      querystring: Type.Object({
        plan: Type.Optional(
          Type.String({ description: '1: with its transactions, warnings and savings', examples: ['1'] }),
        ),
      }),
      body: priceBody,
      response: { 200: priceAnswer },
    },
    config: { errors: 'orderWrite', guard: priceReads, longTexts: true, answersLarge: true },
    bodyLimit: bodyLimits.order,
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      const pause = (): Promise<void> => nextTurn(asker.client);
      await pause();
      const type = readType(request.body.type);
      const { nonStandard } = settings;
      const read = readOrderRequest(request.body.order, { network, type, nonStandard, purpose: 'price' });
      if (read.kind === 'faulty') throw refuseFaults(read.faults);
      const encoding = { bodies: 'lengths', compressMax, asker } as const;
      const encoded = await encodeContents(read, encoding);
      if (encoded.kind === 'faulty') throw refuseFaults(encoded.faults);
      const { notCompressed } = encoded;
      const { terms, rareSatsFee } = await satPrice(deps, read.rareSats, encoded.terms, asker);
      const prices = { ...pricesOf(type, settings), rareSatsFee };
      await pause();
      const quote = quoted(terms, prices);
      const answer = priceOf(quote, terms.additionalFee);
      const isPlanned = request.query.plan === '1' || request.query.plan === 'true';
      if (!isPlanned) return answer;
      const savings = await savingsOf(quote, terms, prices, read, { search, asker, encoding });
      const policy = (await deps.orders?.nodePolicy(asker.signal)) ?? null;
      return { ...answer, ...planOf(quote, savings, notCompressed, feeWarnings(terms, policy)) };
    },
  });
}

/** An order as it is planned, and what its special sat costs. */
interface SatPrice {
  readonly terms: OrderTerms;
  readonly rareSatsFee: bigint;
}

/** Throws `request_invalid` where it cannot have the sat. */
async function satPrice(
  deps: AppDependencies,
  rareSats: string,
  terms: OrderTerms,
  asker: Asker,
): Promise<SatPrice> {
  const { inventory = null } = deps;
  if (terms.type === 'bulk') return { terms, rareSatsFee: await rareSatsFeeOf(rareSats, terms, inventory) };
  const type = readSatType(rareSats);
  if (type === null) return { terms, rareSatsFee: 0n };
  const faults = satTypeFaults(type, terms, null);
  if (faults.length > 0) throw refuseFaults(faults);
  const stocked = await stockedOrder(deps, type, terms, asker);
  return { terms: stocked.terms, rareSatsFee: stocked.fee };
}

/** Types of the public interface that are not orders of files. */
const notOffered: ReadonlySet<unknown> = new Set(['rune-etch', 'rune-mint']);

/** The type of an order: managed where it names none. Throws `request_invalid`. */
function readType(given: unknown): OrderTerms['type'] {
  if (notOffered.has(given)) {
    throw new InvalidRequest([{ message: `type ${String(given)} is not offered`, parameter: 'type' }]);
  }
  const values = new RequestValues();
  const type = values.choice(given, 'type', ['bulk', 'direct'], 'bulk');
  refuse(values);
  return type;
}

function refuse({ faults }: RequestValues): void {
  if (faults.length > 0) throw refuseFaults(faults);
}

interface ReadQuery {
  readonly terms: OrderTerms;
  readonly rareSats: string;
  readonly baseFee: bigint | null;
}

/** A whole bitcoin: more is a mistake. */
const baseFeeMax = 100_000_000n;

/** Text files of equal sizes: the legacy form knows no others. Throws `request_invalid` with all faults. */
function readQuery(query: Readonly<Record<string, unknown>>): ReadQuery {
  const type = readType(query['type']);
  const values = new RequestValues();
  const files = readSizes(values, query);
  const postage = values.whole(query['postage'], 'postage');
  const isLow = values.boolean(query['lowPostage'], 'lowPostage') && postage === null;
  const terms: OrderTerms = {
    type,
    files,
    receivers: [receiver],
    postage: isLow ? 'least' : (postage ?? orderBounds.postageDefault),
    feeRate: values.thousandths(query['fee'], 'fee') ?? orderBounds.feeRateDefault,
    batchMode: readBatchMode(values, query['batchMode']),
    parents: [],
    burn: false,
    uncurse: false,
    additionalFee: values.whole(query['additionalFee'], 'additionalFee') ?? 0n,
    nonStandard: false,
    inventory: null,
  };
  const rareSats = values.text(query['rareSats'], 'rareSats') ?? commonSats;
  const baseFee = values.whole(query['baseFee'], 'baseFee');
  if (baseFee !== null && baseFee > baseFeeMax) values.fault('baseFee', `must be from 0 to ${baseFeeMax}`);
  refuse(values);
  return { terms, rareSats, baseFee };
}

function readSizes(values: RequestValues, query: Readonly<Record<string, unknown>>): FileTerms[] {
  const size = values.whole(query['size'], 'size') ?? 0n;
  values.required(query['size'], 'size');
  const count = values.whole(query['count'], 'count') ?? 1n;
  if (count >= 1n && count <= BigInt(orderBounds.files)) return textFiles(size, Number(count));
  values.fault('count', `must be from 1 to ${orderBounds.files}`);
  return [];
}

/** P2TR: the longest of the addresses that people use. */
const receiver = Uint8Array.of(0x51, 0x20, ...new Uint8Array(32));

function textFiles(size: bigint, count: number): FileTerms[] {
  const each = Number(size / BigInt(count));
  const more = Number(size % BigInt(count));
  return Array.from({ length: count }, (_, index) => ({
    contentType: 'text/plain;charset=utf-8',
    body: index < more ? each + 1 : each,
    contentEncoding: null,
    metaprotocol: null,
    metadata: null,
    delegate: null,
  }));
}

import { Type } from 'typebox';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { priceReads } from '#http/server/access/guard.ts';
import { ownOriginsOf } from '#http/server/headers/request-origin.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { type PricingParts, priceOrder, priceTextFiles } from '#orders/pricing/price-order.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { contentFields } from '#orders/reading/read-files.ts';
import { textFields } from '#orders/reading/read-texts.ts';
import { legacyAnswer, priceAnswer, priceBody, priceQuery } from './price.schemas.ts';
import { legacyOf, planOf, priceOf } from './price-answers.ts';
import { unlessFaulty } from './refuse-faults.ts';

const tags = ['orders'] as const;

/** Routes for prices of orders (docs/orders-api.md, "Prices"). They need no wallet. */
export function priceRoutes(app: App, deps: AppDependencies): void {
  const { pool, inventory = null, network, search, prices: settings = defaultPriceSettings, orders } = deps;
  const parts: Omit<PricingParts, 'own'> = {
    pool,
    inventory,
    reservedMost: orders?.reservedMost ?? null,
    network,
    settings,
    search,
    nodePolicy: async (signal) => (await orders?.nodePolicy(signal)) ?? null,
    satributes: () => satributesInForce(deps),
    urlProblem: (url) => orders?.urlProblem(url) ?? null,
  };
  apiRoute(app, {
    method: 'GET',
    url: '/price',
    schema: {
      operationId: 'legacyPrice',
      summary: 'The price of an order of text files; POST gives the price of any order',
      tags,
      querystring: priceQuery,
      response: { 200: legacyAnswer },
    },
    config: { errors: 'orderRead', guard: priceReads },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { quote, additionalFee } = unlessFaulty(
        await priceTextFiles(parts, request.query, askerOf(reply)),
      );
      return legacyOf(quote, additionalFee);
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/price',
    schema: {
      operationId: 'price',
      summary: 'The price of an order, exact to the sat',
      tags,
      querystring: Type.Object({
        plan: Type.Optional(
          Type.String({ description: '1: with its transactions, warnings and savings', examples: ['1'] }),
        ),
      }),
      body: priceBody,
      response: { 200: priceAnswer },
    },
    config: {
      errors: 'orderWrite',
      guard: priceReads,
      // 404 if the collection is unknown; 501 if the collection is paid in runes
      failures: [404, 501],
      longTexts: [...textFields, ...contentFields],
      within: 'order',
      answersLarge: true,
    },
    bodyLimit: bodyLimits.order,
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { plan: asked } = request.query;
      const isPlanned = asked === '1' || asked === 'true';
      const own = orders?.ownFiles(ownOriginsOf(request, orders.publicOrigin)) ?? null;
      const priced = unlessFaulty(
        await priceOrder({ ...parts, own }, request.body, isPlanned, askerOf(reply)),
      );
      const { quote, plan, warnings } = priced;
      const answer = priceOf(priced);
      return plan === null ? answer : { ...answer, ...planOf(quote, plan, warnings) };
    },
  });
}

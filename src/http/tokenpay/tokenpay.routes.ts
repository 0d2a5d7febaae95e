import { Type } from 'typebox';
import { answerOnce, onceHeaders } from '#http/orders/answer-once.ts';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { builds, readsOrders, shopRequests } from '#http/server/access/guard.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { hurryPayments } from '#payments/store/watches.store.ts';
import { readTokenOrder } from '#tokenpay/reading/read-token-order.ts';
import type { ShopOrders } from '#tokenpay/shop-orders.ts';
import { fxRateRoutes } from './fxrate.routes.ts';
import { keyOf } from './key-of.ts';
import { noOrderId } from './no-order-id.ts';
import { reservesRoutes } from './reserves.routes.ts';
import { testPayRoute } from './test-pay.routes.ts';
import { accountBalance, createdTokenOrder, tokenOrder, tokenOrderBody } from './token-order.schemas.ts';
import { withdrawalRoutes } from './withdrawal.routes.ts';

const exampleOrder = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';

/**
 * Routes of orders of shops that are paid in runes, and of balances of the shops' accounts (docs/tokenpay.md; interface
 * 4.7).
 */
export function tokenpayRoutes(app: App, deps: AppDependencies): void {
  createRoute(app, deps);
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/order/:id',
    schema: {
      operationId: 'tokenOrder',
      summary: 'An order of a shop, with its charges and received payments',
      tags: ['token payments'],
      params: Type.Object({
        id: Type.String({ description: 'the id of an order', examples: [exampleOrder] }),
      }),
      response: { 200: tokenOrder },
    },
    config: { errors: 'tokenpay', guard: readsOrders, failures: [404] },
    handler: async (request, reply) => {
      const { id } = request.params;
      reply.header('cache-control', 'no-store');
      if (!isOrderId(id)) throw new AppError('not_found', noOrderId);
      const found = await needed(deps).read(id);
      if (found === null) throw new AppError('not_found', 'Order not found');
      return found as never;
    },
  });
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/user/account/balance',
    schema: {
      operationId: 'tokenBalance',
      summary: 'The balance of the account of the key, by protocol and token',
      tags: ['token payments'],
      response: { 200: accountBalance },
    },
    config: { errors: 'tokenpay', guard: shopRequests, failures: [404] },
    handler: async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      return (await needed(deps).balances(keyOf(askerOf(reply).key).account)) as never;
    },
  });
  checkRoute(app, deps);
  fxRateRoutes(app, deps);
  testPayRoute(app, deps);
  reservesRoutes(app, deps);
  withdrawalRoutes(app, deps);
}

function createRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/user/order/rune',
    schema: {
      operationId: 'createTokenOrder',
      summary: 'Creates an order that a customer pays in a rune; the answer has both addresses to pay',
      tags: ['token payments'],
      headers: onceHeaders,
      body: tokenOrderBody,
      response: { 200: createdTokenOrder },
    },
    config: { errors: 'tokenpay', guard: shopRequests, body: 'exactJson', failures: [404, 409, 422, 503] },
    handler: async (request, reply) => {
      const shops = needed(deps);
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      const { orders = null } = deps;
      if (orders === null) throw new AppError('orders_off', 'this service accepts no token payments');
      const answer = await answerOnce(orders, request, asker, async (store): Promise<object> => {
        const read = readTokenOrder(request.body, shops.urlProblem);
        if (read.kind === 'faulty') throw refuseFaults(read.faults);
        const key = keyOf(asker.key);
        return unlessFaulty(await shops.create(key, read.sent, store, asker.signal)).answer;
      });
      return (await withSecret(shops, answer)) as never;
    },
  });
}

/**
 * Adds the webhook secret to an answer. The secret is not in any table, so this function adds it to the first answer
 * and to repeated answers.
 */
async function withSecret(shops: ShopOrders, answer: object): Promise<object> {
  const { id, webhookUrl } = answer as { readonly id: string; readonly webhookUrl: string | null };
  const secret = webhookUrl === null ? null : await shops.secretOf(id);
  return secret === null ? answer : { ...answer, webhookSecretToken: secret };
}

function checkRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/utils/checktx',
    schema: {
      operationId: 'checkTransaction',
      summary: 'Makes the service look now for a transaction that pays an order',
      tags: ['token payments'],
      body: Type.Object({ txid: Type.Optional(Type.String({ examples: ['ab'.repeat(32)] })) }),
      response: { 200: Type.Object({ txid: Type.String() }) },
    },
    config: { errors: 'tokenpay', guard: builds },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { txid = '' } = request.body;
      if (txid === '') throw new InvalidRequest([{ message: 'txid is required.', parameter: 'txid' }]);
      if (parseTxid(txid) === null)
        throw new InvalidRequest([
          { message: 'txid must be 64 hex digits, in lower case.', parameter: 'txid' },
        ]);
      await hurryPayments(deps.pool);
      return { txid };
    },
  });
}

function needed({ shopOrders = null }: AppDependencies): ShopOrders {
  if (shopOrders === null) throw new AppError('orders_off', 'this service accepts no token payments');
  return shopOrders;
}

import { Type } from 'typebox';
import { answerOnce, onceHeaders } from '#http/orders/answer-once.ts';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { shopRequests, withdraws } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { RequestValues } from '#kernel/requests/request-values.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import type { AccountWithdrawals } from '#tokenpay/withdrawing/account-withdrawals.ts';
import { readWithdrawal, type SentWithdrawal } from '#tokenpay/withdrawing/read-withdrawal.ts';
import { addressesRoutes } from './addresses.routes.ts';
import { keyOf } from './key-of.ts';
import { neededWithdrawals } from './needed-withdrawals.ts';
import { createdWithdrawal, dryRun, withdrawal, withdrawalBody } from './withdrawal.schemas.ts';

const exampleWithdrawal = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';

const withdrawalId = Type.Object({
  id: Type.String({ description: 'the id of a withdrawal', examples: [exampleWithdrawal] }),
});

/** Routes of withdrawals of accounts (docs/tokenpay.md; interface 4.7). */
export function withdrawalRoutes(app: App, deps: AppDependencies): void {
  askRoute(app, deps);
  readRoute(app, deps, '/tokenpay/user/withdrawal/:id', 'withdrawal');
  // the path of the published client (client-compat 1.5)
  readRoute(app, deps, '/tokenpay/user/account/withdraw/:id', 'withdrawalOfClient');
  cancelRoute(app, deps);
  addressesRoutes(app, deps);
}

function askRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/tokenpay/user/account/withdraw',
    schema: {
      operationId: 'withdraw',
      summary:
        'Withdraws BTC or a rune from the account of the key, or answers what that would cost (dryRun)',
      tags: ['token payments'],
      headers: onceHeaders,
      body: withdrawalBody,
      response: { 200: Type.Union([createdWithdrawal, dryRun]) },
    },
    config: { errors: 'tokenpay', guard: withdraws, body: 'exactJson', failures: [404, 409, 422, 503] },
    handler: async (request, reply) => {
      const withdrawals = neededWithdrawals(deps);
      const { orders = null } = deps;
      reply.header('cache-control', 'no-store');
      if (orders === null) throw new AppError('orders_off', 'this service makes no withdrawals');
      const { sent, feeRate } = readBody(request.body, withdrawals);
      const asker = askerOf(reply);
      const ask = async (store: Parameters<AccountWithdrawals['ask']>[3]): Promise<object> =>
        unlessFaulty(await withdrawals.ask(keyOf(asker.key), sent, feeRate, store, asker.signal)).answer;
      // a dry run stores nothing, not even its answer
      if (sent.isDryRun) return (await ask(() => Promise.resolve())) as never;
      const answer = await answerOnce(orders, request, asker, ask);
      return (await withSecret(withdrawals, answer, sent)) as never;
    },
  });
}

function readBody(
  body: unknown,
  { urlProblem }: AccountWithdrawals,
): { readonly sent: SentWithdrawal; readonly feeRate: bigint | null } {
  const values = new RequestValues();
  // if the body is not an object, `readWithdrawal` below reports it
  const given = typeof body === 'object' && body !== null && 'feeRate' in body ? body.feeRate : null;
  const feeRate = readFeeRate(values, 'feeRate', given, 'either');
  const read = readWithdrawal(body, urlProblem, values);
  if (read.kind === 'faulty') throw refuseFaults(read.faults);
  return { sent: read.sent, feeRate };
}

/**
 * Adds the webhook secret to an answer. The secret is not in any table, so this function adds it to the first answer
 * and to repeated answers.
 */
async function withSecret(
  withdrawals: AccountWithdrawals,
  answer: object,
  { webhookUrl }: SentWithdrawal,
): Promise<object> {
  if (webhookUrl === null) return answer;
  const secret = await withdrawals.secretOf((answer as { readonly id: string }).id);
  return secret === null ? answer : { ...answer, webhookSecretToken: secret };
}

function readRoute(app: App, deps: AppDependencies, url: string, operationId: string): void {
  apiRoute(app, {
    method: 'GET',
    url,
    schema: {
      operationId,
      summary: 'A withdrawal of the account of the key',
      tags: ['token payments'],
      params: withdrawalId,
      response: { 200: withdrawal },
    },
    config: { errors: 'tokenpay', guard: shopRequests, failures: [404] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { account } = keyOf(askerOf(reply).key);
      return found(await neededWithdrawals(deps).read(account, readId(request.params))) as never;
    },
  });
}

function cancelRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'DELETE',
    url: '/tokenpay/user/withdrawal/:id',
    schema: {
      operationId: 'cancelWithdrawal',
      summary: 'Cancels a withdrawal of the account of the key, if no transaction was signed for it',
      tags: ['token payments'],
      params: withdrawalId,
      response: { 200: withdrawal },
    },
    config: { errors: 'tokenpay', guard: withdraws, failures: [404, 409] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { account } = keyOf(askerOf(reply).key);
      return found(await neededWithdrawals(deps).cancel(account, readId(request.params))) as never;
    },
  });
}

/** Returns the id in a path. Throws `not_found` if the text is not an id. */
function readId({ id }: { readonly id: string }): string {
  if (!isOrderId(id)) throw new AppError('not_found', noWithdrawalId);
  return id;
}

/** The answer if a text is not an id. It begins with the words that clients know (client-compat 2.3). */
const noWithdrawalId = `withdrawal not found: this is not the id of a withdrawal, a UUID such as ${exampleWithdrawal}`;

function found(answer: object | null): object {
  if (answer === null) throw new AppError('not_found', 'withdrawal not found');
  return answer;
}

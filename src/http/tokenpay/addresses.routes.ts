import { Type } from 'typebox';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { shopRequests, withdraws } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { addressesMax } from '#tokenpay/withdrawing/addresses.store.ts';
import { keyOf } from './key-of.ts';
import { neededWithdrawals } from './needed-withdrawals.ts';

const url = '/tokenpay/user/account/addresses';
const exampleAddress = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

const listed = Type.Object({
  address: Type.String({ description: 'the address as it was added', examples: [exampleAddress] }),
  addedAt: Type.Integer({ description: 'ms since 1970' }),
  countsAt: Type.Integer({
    description:
      'time from which withdrawals may go to it, ms since 1970: a day after it was added, if the account already had addresses',
  }),
  counts: Type.Boolean({ description: 'whether withdrawals may go to it now' }),
});

const addresses = Type.Object({
  addresses: Type.Array(listed, {
    description: 'the account can only withdraw to these addresses; empty: to any address',
  }),
});

/** Routes of addresses to which the account of a key may withdraw (docs/tokenpay.md, "Addresses"). */
export function addressesRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url,
    schema: {
      operationId: 'withdrawalAddresses',
      summary: 'The addresses to which the account of the key may withdraw',
      tags: ['token payments'],
      response: { 200: addresses },
    },
    config: { errors: 'tokenpay', guard: shopRequests },
    handler: async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      return { addresses: await neededWithdrawals(deps).addresses.list(keyOf(askerOf(reply).key).account) };
    },
  });
  apiRoute(app, {
    method: 'POST',
    url,
    schema: {
      operationId: 'addWithdrawalAddress',
      summary: `Adds a withdrawal address of the account of the key, of at most ${addressesMax}; if there are others, it counts a day later`,
      tags: ['token payments'],
      body: Type.Object({ address: Type.Optional(Type.String({ examples: [exampleAddress] })) }),
      response: { 200: listed },
    },
    config: { errors: 'tokenpay', guard: withdraws, failures: [409] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { address = '' } = request.body;
      if (address === '') throw refuseFaults([{ message: 'address is required.', parameter: 'address' }]);
      return unlessFaulty(
        await neededWithdrawals(deps).addresses.add(keyOf(askerOf(reply).key).account, address),
      ).listed;
    },
  });
  apiRoute(app, {
    method: 'DELETE',
    url: `${url}/:address`,
    schema: {
      operationId: 'deleteWithdrawalAddress',
      summary: 'Deletes a withdrawal address of the account of the key, if another one that counts is left',
      tags: ['token payments'],
      params: Type.Object({
        address: Type.String({ description: 'an address of the account', examples: [exampleAddress] }),
      }),
      response: { 200: addresses },
    },
    config: { errors: 'tokenpay', guard: withdraws, failures: [404, 409] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { account } = keyOf(askerOf(reply).key);
      unlessFaulty(await neededWithdrawals(deps).addresses.delete(account, request.params.address));
      return { addresses: await neededWithdrawals(deps).addresses.list(account) };
    },
  });
}

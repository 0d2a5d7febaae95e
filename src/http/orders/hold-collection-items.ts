import type { FastifyRequest } from 'fastify';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { OrderedItems } from '#orders/collections/ordered-items.ts';
import { type CollectionOrder, readCollectionOrder } from '#orders/collections/read-collection-order.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { refuseFaults, unlessFaulty } from './refuse-faults.ts';

/**
 * Holds the items that an order of a collection names in its body, for a client with a key for orders or a token.
 * Throws `token_refused`, `token_check_away`, `collection_items_taken`, `collection_unpaid_max`, `not_found`,
 * `not_offered`, and the faults of a request.
 */
export async function holdCollectionItems(
  network: NetworkParameters,
  orders: CustomerOrders,
  request: FastifyRequest,
  asker: Asker,
): Promise<OrderedItems> {
  const wanted = unlessFaulty(readCollectionOrder(request.body, network));
  await requirePerson(orders, wanted, asker);
  const held = await orders.holdItems(wanted, asker);
  if (!('kind' in held)) return held;
  switch (held.kind) {
    case 'unknown':
      throw new AppError('not_found', held.reason);
    case 'runes':
      throw new AppError('not_offered', held.reason);
    case 'bounds':
      throw new AppError('collection_unpaid_max', held.reason);
    case 'taken':
      throw new AppError('collection_items_taken', held.reason);
    case 'closed':
      throw refuseFaults([{ message: held.reason, parameter: 'collection' }]);
  }
}

const keyProblems = {
  none: 'send a valid key with the scope orders in x-api-key, or a token',
  known: 'the key does not have the scope orders; send a key with this scope in x-api-key, or a token',
} as const;

/**
 * Requires a proof. A program sends a key with the scope `orders`, and a page of a mint site sends the token of its
 * visitor.
 */
async function requirePerson(
  { persons }: Pick<CustomerOrders, 'persons'>,
  { token }: Pick<CollectionOrder, 'token'>,
  { key, client, signal }: Asker,
): Promise<void> {
  if (key.kind === 'known' && key.scopes.includes('orders')) return;
  if (token === null) throw new AppError('token_refused', keyProblems[key.kind]);
  const problem = (await persons?.problemOf(token, client, signal)) ?? null;
  if (problem !== null) throw new AppError('token_refused', problem);
}

import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Errors of collections for sale. */
export const collectionErrors = {
  collection_items_taken: {
    meaning:
      'Another order has an item that was asked for by number, the collection has no item with this number, or the order took longer than a minute to make.',
    action: 'Order other items, or any: without numbers the service draws them.',
    retry: 'soon',
  },
  collection_unpaid_max: {
    meaning:
      'Orders that are not paid yet have as many items as they may: those of one address COLLECTION_UNPAID_MAX, those of its network COLLECTION_UNPAID_NETWORK_MAX, and all together half of what is left.',
    action: 'Pay for one of them, cancel one, or wait until the time of one is over: 30 minutes.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

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
  token_check_away: {
    meaning:
      'The token of an order of a collection could not be checked: Turnstile does not answer, or does not take TURNSTILE_SECRET.',
    action: 'Try again; where it lasts, the operator compares TURNSTILE_SECRET with the site of the token.',
    retry: 'soon',
  },
  token_refused: {
    meaning:
      'An order of a collection needs a key with the scope `orders`, or a token that was not used before.',
    action: 'Solve the challenge of the page again, or send a key.',
    retry: 'never',
  },
  collection_undecided_max: {
    meaning:
      'Creators without a key have as many collections that wait for the operator as they may: three of one address, ten of one network, a hundred together; or a collection lists more than 20,000 addresses without a key.',
    action: 'Send a key in x-api-key, or wait: what no operator decides about is deleted after 30 days.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

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
  mint_decided: {
    meaning: 'A collection for sale is not in the state that the command needs: it was decided about before.',
    action:
      'Look at `satscribe mint show ID`. What is refused is sent again by its creator; what is sold stays.',
    retry: 'never',
  },
  mint_disk_full: {
    meaning: 'The disk of files (FILES_DIR) would have less than 1 GB left with the files of a collection.',
    action: 'Make room, and run the command again: files that are stored are not fetched or written again.',
    retry: 'never',
  },
  mint_files_wrong: {
    meaning:
      'A collection cannot be approved, or a folder cannot be its files: counts, names, prices or bytes are wrong, or a file could not be fetched. The message has all faults, up to 100 of them.',
    action:
      'Mend what it names and run the command again: what was fetched is kept. `satscribe mint upload` replaces the files; else `satscribe mint refuse` tells the creator why.',
    retry: 'never',
  },
  mint_folder_unreadable: {
    meaning: 'A folder of files to upload, or a file in it, is not there or cannot be read.',
    action: 'Name a folder that the user of the command can read.',
    retry: 'never',
  },
  mint_unknown: {
    meaning: 'No collection for sale has this id.',
    action:
      'Look at `satscribe mint list`. Imported collections of the market are those of `satscribe collections list`.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

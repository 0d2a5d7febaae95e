import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Errors of collections for sale. */
export const collectionErrors = {
  collection_items_taken: {
    meaning:
      'An order asked for an item by number, but another order has this item, or the collection has no such number. Or the service took longer than a minute to make the order.',
    action: 'Order other items, or order without numbers: the service then chooses the items.',
    retry: 'soon',
  },
  collection_unpaid_max: {
    meaning:
      'Unpaid orders already have as many items as they may have. COLLECTION_UNPAID_MAX is the limit for one IP address, and COLLECTION_UNPAID_NETWORK_MAX for its network. All unpaid orders together may have half of the items that are left.',
    action: 'Pay for an unpaid order, cancel one, or wait until its time for payment is over (30 minutes).',
    retry: 'never',
  },
  token_check_away: {
    meaning:
      'The token of an order of a collection could not be checked, because Turnstile does not answer or does not accept TURNSTILE_SECRET.',
    action:
      'Try again. If the failure persists, the operator compares TURNSTILE_SECRET with the site that the token belongs to.',
    retry: 'soon',
  },
  token_refused: {
    meaning:
      'An order of a collection needs a key with the scope `orders`, or a token of Turnstile that was not used before.',
    action: 'Solve the challenge on the page again, or send a key.',
    retry: 'never',
  },
  collection_undecided_max: {
    meaning:
      'Too many collections of creators without a key wait for the operator. The limits are three for one IP address, ten for its network, and a hundred in total. Or a collection without a key lists more than 20,000 addresses.',
    action:
      'Send a key in x-api-key, or wait. Collections that the operator does not decide about are deleted after 30 days.',
    retry: 'never',
  },
  mint_decided: {
    meaning:
      'The state of a collection for sale does not allow the command, because the operator has already decided about this collection.',
    action:
      'Read its state with `satscribe mint show ID`. The creator of a refused collection can send it again. Sold items stay sold.',
    retry: 'never',
  },
  mint_disk_full: {
    meaning: 'With the files of a collection, the disk of FILES_DIR would have less than 1 GB left.',
    action:
      'Free space on this disk and run the command again. Files that are already stored are not fetched or written again.',
    retry: 'never',
  },
  mint_files_wrong: {
    meaning:
      'A collection cannot be approved, or the files of a folder cannot be its files, because counts, names, prices or bytes are wrong, or a file could not be fetched. The message lists the faults, up to 100.',
    action:
      'Correct these faults and run the command again. Files that were fetched are kept. `satscribe mint upload` replaces the files; `satscribe mint refuse` refuses the collection and tells the creator why.',
    retry: 'never',
  },
  mint_folder_unreadable: {
    meaning: 'A folder of files to upload, or a file in this folder, does not exist or cannot be read.',
    action: 'Name a folder that the user who runs the command can read.',
    retry: 'never',
  },
  mint_unknown: {
    meaning: 'No collection for sale has this id.',
    action:
      'Find the id with `satscribe mint list`. Imported collections of the market are not for sale here: `satscribe collections list` shows them.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

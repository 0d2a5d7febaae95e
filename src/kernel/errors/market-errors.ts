import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of collections of the market. */
export const marketErrors = {
  collection_invalid: {
    meaning:
      'A file of a collection to import lacks a required field, is not in the form of the community, or exceeds a bound. Optional fields that are wrong refuse nothing: they are left out.',
    action:
      'Correct what the message names, up to 100 faults (docs/marketplace-api.md, "Collections"), and import it again: nothing was changed.',
    retry: 'never',
  },
  collection_sold: {
    meaning:
      'The collection is one that this service sells: its items come from orders, and not from a list.',
    action: 'Leave it: `satscribe mint close` ends its sale, and what was sold stays in the market.',
    retry: 'never',
  },
  collection_unreadable: {
    meaning: 'A file of a collection to import is not there, or cannot be read.',
    action: 'Name the folder, or the URL of the folder, that has meta.json and inscriptions.json.',
    retry: 'never',
  },
  collection_unknown: {
    meaning:
      'No collection has that slug: none was imported with it, and it is not the id of an inscription with children or a gallery.',
    action: 'Look at `satscribe collections list`, or at `GET /marketplace/data/collections`.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of collections of the market. */
export const marketErrors = {
  collection_invalid: {
    meaning:
      'A file of a collection to import lacks a required field, is not in the form that the community uses, or exceeds a limit. A wrong optional field is left out and does not stop the import.',
    action:
      'Correct the faults that the message lists (up to 100), and import the collection again. Nothing was changed. docs/marketplace-api.md, "Collections", describes the files.',
    retry: 'never',
  },
  collection_sold: {
    meaning:
      'This service sells the collection. Its items come from orders, so the collection can be neither imported nor removed.',
    action:
      'Leave the collection as it is. To end its sale, run `satscribe mint close`; sold items stay in the market.',
    retry: 'never',
  },
  collection_unreadable: {
    meaning: 'A file of a collection to import does not exist or cannot be read.',
    action: 'Name the folder that has meta.json and inscriptions.json, or the URL of this folder.',
    retry: 'never',
  },
  collection_unknown: {
    meaning:
      'No imported collection has that slug, and no inscription with children or a gallery has it as its id.',
    action: 'Find the slug with `satscribe collections list` or `GET /marketplace/data/collections`.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** What may be wrong with collections of the market. */
export const marketErrors = {
  collection_invalid: {
    meaning: 'A file of a collection to import is not in the form of the community, or goes beyond a bound.',
    action:
      'Correct what the message names (docs/marketplace-api.md, "Collections"), and import it again: nothing was changed.',
    retry: 'never',
  },
  collection_unreadable: {
    meaning: 'A file of a collection to import is not there, or cannot be read.',
    action: 'Name the folder, or the URL of the folder, that has meta.json and inscriptions.json.',
    retry: 'never',
  },
  collection_unknown: {
    meaning: 'No collection was imported with that slug.',
    action: 'Look at `satscribe collections list`.',
    retry: 'never',
  },
} as const;

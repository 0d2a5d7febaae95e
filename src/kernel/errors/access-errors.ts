import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Errors about keys, accounts and rates. */
export const accessErrors = {
  account_exists: {
    meaning: 'An account with that name already exists.',
    action: 'Use it, or choose another name; `satscribe accounts list` shows all.',
    retry: 'never',
  },
  account_unknown: {
    meaning: 'There is no account with that name.',
    action: 'Look at `satscribe accounts list`, or create it with `satscribe accounts create NAME`.',
    retry: 'never',
  },
  key_missing: {
    meaning:
      'Searches are restricted here, and the request has no key and comes from no listed domain; or they need a key (SEARCH_ACCESS=keys). Or the path is one of the custodial marketplace or of the launchpad.',
    action:
      'Create a key (`satscribe keys create --account A`) and send it as x-api-key or as Authorization: Bearer, or give it to the page that asks for it; list the domain in SEARCH_ALLOWED_DOMAINS; or set SEARCH_ACCESS=open.',
    retry: 'never',
  },
  key_refused: {
    meaning: 'The key of a request is unknown or was revoked.',
    action: 'Compare it with `satscribe keys list`, or create another with `satscribe keys create`.',
    retry: 'never',
  },
  key_ambiguous: {
    meaning: 'A request holds two keys that differ: x-api-key and Authorization: Bearer.',
    action: 'Send one of them, or the same in both.',
    retry: 'never',
  },
  key_scope: {
    meaning: 'The key is valid, but none of its scopes allows the request.',
    action: 'Create a key with the needed scope: `satscribe keys create --scope search,orders`.',
    retry: 'never',
  },
  key_not_found: {
    meaning: 'The account has no such key, or it is already revoked.',
    action: 'Look at `satscribe keys list --account A`.',
    retry: 'never',
  },
  rate_limited: {
    meaning: 'More requests came with a key, or from an address, than its rate allows.',
    action:
      'Wait the seconds that Retry-After names, or create a key with a higher --rate; without a key SEARCH_ADDRESS_RATE and BUILD_ADDRESS_RATE are the limits.',
    retry: 'soon',
  },
  too_many_at_once: {
    meaning: 'An address or a key has more open at once than its share: streams of events, for example.',
    action: 'Wait until one of them has ended; docs/http.md, "Budgets", has the shares.',
    retry: 'soon',
  },
  access_unavailable: {
    meaning: 'The database could not check whether a request is allowed.',
    action: 'Nothing: clients try again. If it persists, check the server: the log says why.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

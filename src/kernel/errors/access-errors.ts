import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Errors about keys, accounts and rates. */
export const accessErrors = {
  account_exists: {
    meaning: 'An account with that name already exists.',
    action: 'Use the existing account, or choose another name. `satscribe accounts list` shows all accounts.',
    retry: 'never',
  },
  account_unknown: {
    meaning: 'There is no account with that name.',
    action:
      'Find the name with `satscribe accounts list`, or create the account with `satscribe accounts create NAME`.',
    retry: 'never',
  },
  key_missing: {
    meaning:
      'The request has no key, and its path needs one. Searches need a key or a listed domain if SEARCH_ACCESS is `restricted`, and always a key if it is `keys`. The paths of the custodial marketplace and of the launchpad always need a key.',
    action:
      'Create a key with `satscribe keys create --account A`. Send it as x-api-key or as Authorization: Bearer, or enter it on the page that asks for a key. Or list the domain in SEARCH_ALLOWED_DOMAINS, or set SEARCH_ACCESS=open.',
    retry: 'never',
  },
  key_refused: {
    meaning: 'The key of a request is unknown or was revoked.',
    action: 'Compare the key with `satscribe keys list`, or create another key with `satscribe keys create`.',
    retry: 'never',
  },
  key_ambiguous: {
    meaning: 'A request has two different keys, one in x-api-key and one in Authorization: Bearer.',
    action: 'Send only one of these headers, or send the same key in both headers.',
    retry: 'never',
  },
  key_scope: {
    meaning: 'The key is valid, but none of its scopes allows the request.',
    action: 'Create a key with the needed scope: `satscribe keys create --scope search,orders`.',
    retry: 'never',
  },
  key_not_found: {
    meaning: 'The account has no such key, or it is already revoked.',
    action: 'List the keys of the account with `satscribe keys list --account A`.',
    retry: 'never',
  },
  rate_limited: {
    meaning: 'A key or an IP address sent more requests than its rate allows.',
    action:
      'Wait for the number of seconds in Retry-After, or create a key with a higher --rate. For requests without a key, SEARCH_ADDRESS_RATE and BUILD_ADDRESS_RATE are the limits.',
    retry: 'soon',
  },
  too_many_at_once: {
    meaning:
      'An IP address or a key has more requests open at once than its share, for example streams of events.',
    action: 'Wait until one of these requests has ended. docs/http.md, "Budgets", lists the shares.',
    retry: 'soon',
  },
  access_unavailable: {
    meaning: 'The database could not check whether a request is allowed.',
    action:
      'No action is needed, because clients try again. If the failure persists, read the reason in the log of the server.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

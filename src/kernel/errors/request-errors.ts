import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Faults of an HTTP request, and reasons why a request is not answered now. */
export const requestErrors = {
  request_invalid: {
    meaning: 'A request has an invalid parameter.',
    action: 'Correct the parameter that the message names. /docs/ describes all paths.',
    retry: 'never',
  },
  header_repeated: {
    meaning: 'A request has a header twice, but only one is allowed.',
    action:
      'Send only one header of the name in the message. If the client sends only one, a proxy adds another one: configure the proxy to replace the header.',
    retry: 'never',
  },
  parameter_unknown: {
    meaning: 'A request has an unknown query parameter.',
    action:
      'Use the parameter that the message suggests, or leave the unknown parameter out. /docs lists the parameters of every path.',
    retry: 'never',
  },
  field_unknown: {
    meaning: 'The body of a request has an unknown field.',
    action:
      'Use the field that the message suggests, or leave the unknown field out. /docs lists the fields of every path.',
    retry: 'never',
  },
  url_too_long: {
    meaning: 'The URL of a request is longer than the server accepts.',
    action: 'Send fewer or shorter needles. docs/http.md lists the limits.',
    retry: 'never',
  },
  body_too_large: {
    meaning: 'The body of a request is larger than its path accepts.',
    action: 'Send less at once. docs/http.md lists the limits.',
    retry: 'never',
  },
  media_type_unsupported: {
    meaning: 'The body of a request has a content type or a content encoding that its path does not accept.',
    action:
      'Send the body uncompressed, with the content-type that the message names. Nearly all paths need application/json.',
    retry: 'never',
  },
  not_acceptable: {
    meaning: 'The content is stored in an encoding that the request does not accept.',
    action: 'Send Accept-Encoding with the encoding that the message names.',
    retry: 'never',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    action: 'Use one of the methods in the Allow header.',
    retry: 'never',
  },
  not_found: {
    meaning: 'The requested object is not indexed, or it has no content.',
    action: 'Check the id. The index ends at the height in X-Indexed-Height.',
    retry: 'never',
  },
  cursor_stale: {
    meaning: 'The chain was reorganised below the position of the cursor, so earlier pages may have changed.',
    action: 'Request the first page again.',
    retry: 'never',
  },
  not_offered: {
    meaning: 'The path belongs to the public interface, but this service does not have it.',
    action:
      'Do not use this path. The custodial marketplace and the launchpad do not exist here. docs/marketplace-api.md describes the data of the market.',
    retry: 'never',
  },
  token_balance_missing: {
    meaning: 'The account has less of the token than the withdrawal needs.',
    action: 'Withdraw less, or wait until the payment is confirmed.',
    retry: 'never',
  },
  address_too_large: {
    meaning: 'An address has more unspent outputs than one response can list.',
    action: 'Read them in pages: /outputs/<address>?limit=…&cursor=… (docs/ord-api.md, "Addresses").',
    retry: 'never',
  },
  internal_error: {
    meaning: 'An unexpected failure of this program.',
    action: 'Read the full error in the log of the server, and report it.',
    retry: 'never',
  },
  overloaded: {
    meaning:
      'The event loop of the process is a second late, because requests arrive faster than the process answers them.',
    action:
      'No action is needed, because clients try again. If the failure persists, start more processes with --role api. /metrics shows the requests.',
    retry: 'soon',
  },
  bodies_busy: {
    meaning: 'Clients send more large bodies at once than the process has memory for.',
    action:
      'No action is needed, because clients try again after the number of seconds in Retry-After. If the failure persists, start more processes with --role api.',
    retry: 'soon',
  },
  contents_busy: {
    meaning: 'The server is reading or sending as many contents as it can at once.',
    action: 'Try again after the number of seconds in Retry-After.',
    retry: 'soon',
  },
  answers_busy: {
    meaning: 'The memory for responses is full, because slow clients have not yet received theirs.',
    action:
      'Try again after the number of seconds in Retry-After. If the failure persists, raise UNSENT_MEGABYTES, or find the clients that do not read their responses.',
    retry: 'soon',
  },
  holders_busy: {
    meaning: 'The server is making as many lists of rune holders as it can at once.',
    action: 'Try again after the number of seconds in Retry-After.',
    retry: 'soon',
  },
  sales_busy: {
    meaning: 'The server is making as many lists of sales of collections as it can at once.',
    action: 'Try again after the number of seconds in Retry-After.',
    retry: 'soon',
  },
  sats_busy: {
    meaning: 'The server is tracing the sats of as many outputs as it can at once.',
    action: 'Try again after the number of seconds in Retry-After.',
    retry: 'soon',
  },
  too_many_streams: {
    meaning: 'The process already sends its maximum number of event streams.',
    action:
      'No action is needed, because clients try again. If the failure persists, start more processes with --role api.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

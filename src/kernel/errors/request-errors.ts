import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Faults of an HTTP request, and reasons why a request is not answered now. */
export const requestErrors = {
  request_invalid: {
    meaning: 'A request has an invalid parameter.',
    action: 'Correct the parameter that the message names; /docs/ has all paths.',
    retry: 'never',
  },
  header_repeated: {
    meaning: 'A request has a header twice that it may have once.',
    action:
      'Send the header that the message names once. If the client does, a proxy on the way adds another one: let it replace the header.',
    retry: 'never',
  },
  parameter_unknown: {
    meaning: 'A request has an unknown query parameter.',
    action:
      'Use the parameter that the message suggests, or leave it out; /docs lists the parameters of every path.',
    retry: 'never',
  },
  field_unknown: {
    meaning: 'The body of a request has an unknown field.',
    action: 'Use the field that the message suggests, or leave it out; /docs lists the fields of every path.',
    retry: 'never',
  },
  url_too_long: {
    meaning: 'The URL of a request is longer than the server accepts.',
    action: 'Send fewer or shorter needles; docs/http.md has the limits.',
    retry: 'never',
  },
  body_too_large: {
    meaning: 'The body of a request is larger than its path accepts.',
    action: 'Send less at once; docs/http.md has the limits.',
    retry: 'never',
  },
  media_type_unsupported: {
    meaning: 'The body of a request has a content type or a content encoding that its path does not accept.',
    action:
      'Send it with the content-type that the message names, application/json for nearly all paths, and not compressed.',
    retry: 'never',
  },
  not_acceptable: {
    meaning: 'The content is stored in an encoding that the request does not accept.',
    action: 'Send Accept-Encoding with the encoding that the message names.',
    retry: 'never',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    action: 'Use a method that the Allow header names.',
    retry: 'never',
  },
  not_found: {
    meaning: 'The requested object is not indexed, or has no content.',
    action: 'Check the id; the index ends at the height in X-Indexed-Height.',
    retry: 'never',
  },
  cursor_stale: {
    meaning: 'The chain was reorganised below the position of a cursor: earlier pages may differ now.',
    action: 'Request the first page again.',
    retry: 'never',
  },
  not_offered: {
    meaning: 'The path is one of the public interface that is not part of this service.',
    action:
      'Do without it: the custodial marketplace and the launchpad have no counterpart here; docs/marketplace-api.md has the data of the market.',
    retry: 'never',
  },
  token_balance_missing: {
    meaning: 'An account has less of a token than the withdrawal needs.',
    action: 'Withdraw less, or wait until the payment is confirmed.',
    retry: 'never',
  },
  address_too_large: {
    meaning: 'An address holds more unspent outputs than one answer can list.',
    action: 'Read them in pages: /outputs/<address>?limit=…&cursor=… (docs/ord-api.md, "Addresses").',
    retry: 'never',
  },
  internal_error: {
    meaning: 'An unexpected failure of this program.',
    action: 'Read the log of the server: it has the error in full. Report it.',
    retry: 'never',
  },
  overloaded: {
    meaning: 'The event loop of the process is a second behind: requests come faster than it answers them.',
    action:
      'Nothing: clients try again. If it persists, start further processes with --role api; /metrics shows the requests.',
    retry: 'soon',
  },
  bodies_busy: {
    meaning: 'More large bodies are sent to the process at once than it has room for.',
    action:
      'Nothing: clients try again after the seconds that Retry-After names. If it persists, start further processes with --role api.',
    retry: 'soon',
  },
  contents_busy: {
    meaning: 'More contents are being read or sent than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  answers_busy: {
    meaning: 'Answers that slow clients have not taken yet fill the memory that the server has for them.',
    action:
      'Try again after the seconds that Retry-After names. If it persists, raise UNSENT_MEGABYTES, or look for clients that do not read.',
    retry: 'soon',
  },
  holders_busy: {
    meaning: 'More lists of the holders of runes are being made than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  sales_busy: {
    meaning: 'More lists of the sales of collections are being made than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  sats_busy: {
    meaning: 'More outputs are being traced back to their sats than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
  too_many_streams: {
    meaning: 'One process already sends its maximum number of event streams.',
    action: 'Nothing: clients try again. If it persists, start further processes with --role api.',
    retry: 'soon',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** What may be wrong with an HTTP request or with its answer. */
export const requestErrors = {
  request_invalid: {
    meaning: 'A request has an invalid parameter.',
    action: 'Correct the parameter that the message names; docs/http.md has the routes.',
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
  body_too_large: {
    meaning: 'The body of a request is larger than its path accepts.',
    action: 'Send less at once; docs/http.md has the limits.',
    retry: 'never',
  },
  bodies_busy: {
    meaning: 'More large bodies are sent to the process at once than it has room for.',
    action:
      'Nothing: clients try again after the seconds that Retry-After names. If it persists, start further processes with --role api.',
    retry: 'soon',
  },
  media_type_unsupported: {
    meaning: 'The body of a request has a content type that its path does not accept.',
    action: 'Send it with the content-type that the message names: application/json for nearly all paths.',
    retry: 'never',
  },
  token_balance_missing: {
    meaning: 'An account has less of a token than the withdrawal needs.',
    action: 'Withdraw less, or wait until the payment is confirmed.',
    retry: 'never',
  },
  internal_error: {
    meaning: 'An unexpected failure of this program.',
    action: 'Read the log of the server: it has the error in full. Report it.',
    retry: 'never',
  },
  not_found: {
    meaning: 'The requested object is not indexed, or has no content.',
    action: 'Check the id; the index ends at the height in X-Indexed-Height.',
    retry: 'never',
  },
  index_missing: {
    meaning:
      'A filter of a list, or an address, needs an index that is still to be built: in a first sync, or after an upgrade that brought the index.',
    action:
      'Try again after the seconds that Retry-After names, or ask for fewer heights. The process that indexes builds it once it has caught up with the chain.',
    retry: 'soon',
  },
  no_node: {
    meaning: 'The answer needs a node, or blocks, that this server does not have.',
    action:
      'Start the server with a node or with its folder of blocks; docs/ord-api.md lists the source of each field.',
    retry: 'never',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    action: 'Use a method that the Allow header names.',
    retry: 'never',
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
  sales_not_indexed: {
    meaning:
      'INDEX_SALES is false in the process that indexes, so no sale is known: not even that there was none. Sales that were indexed before are not shown, as those since then are missing.',
    action:
      'Set INDEX_SALES=true in that process, and start it again: sales are filled in from where they ended, in the background (docs/operating.md, "Derived tables").',
    retry: 'never',
  },
  runes_not_indexed: {
    meaning:
      'INDEX_RUNES is false in the process that indexes, so no rune is known: not even that there was none. Runes that were indexed before are not shown, as what happened since is missing.',
    action:
      'Set INDEX_RUNES=true in that process, and start it again: runes are filled in from where they ended, in the background (docs/operating.md, "Derived tables").',
    retry: 'never',
  },
  sats_busy: {
    meaning: 'More outputs are being traced back to their sats than the server accepts.',
    action: 'Try again after the seconds that Retry-After names.',
    retry: 'soon',
  },
} as const;

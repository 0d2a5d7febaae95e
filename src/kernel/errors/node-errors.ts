import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the node. */
export const nodeErrors = {
  node_unreachable: {
    meaning: 'No bitcoind answers at the address.',
    action:
      'Start the node, or correct BITCOIN_RPC_URL (--node); a service continues to answer from its index.',
    retry: 'soon',
  },
  node_tls: {
    meaning: 'What answers at the address of the node does not speak TLS, or its certificate is not trusted.',
    action:
      'Correct BITCOIN_RPC_URL and BITCOIN_REST_URL: bitcoind itself speaks http. For a proxy with https, name the file of its authority with NODE_EXTRA_CA_CERTS.',
    retry: 'minute',
  },
  node_refused: {
    meaning: 'The node denies access: wrong user, password or cookie, or our address is not allowed.',
    action:
      'Correct BITCOIN_COOKIE_FILE or BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD; rpcallowip in bitcoin.conf names the addresses that may call.',
    retry: 'minute',
    retryOnly: 'cookieFile',
  },
  node_cookie_missing: {
    meaning:
      'The node wants a cookie, and its cookie file is missing: it is stopping or starting, or another file is named.',
    action:
      'Nothing while the node stops or starts: the file is read again within seconds. Else correct BITCOIN_COOKIE_FILE.',
    retry: 'soon',
  },
  node_warming_up: {
    meaning: 'The node is starting and does not answer calls yet.',
    action: 'Nothing: the call is retried.',
    retry: 'soon',
  },
  node_answer_invalid: {
    meaning: 'The node, or something between it and us, gave an answer of the wrong form.',
    action: 'Check that BITCOIN_RPC_URL and BITCOIN_REST_URL lead directly to a bitcoind, and read its log.',
    retry: 'soon',
  },
  node_scan_busy: {
    meaning: 'The node scans all unspent outputs already, and makes one scan at a time.',
    action:
      'Try again in a minute; on mainnet a scan takes some. A command that was ended may have left one: `bitcoin-cli scantxoutset abort` ends it.',
    retry: 'soon',
  },
  node_call_failed: {
    meaning: 'The node refused a call.',
    action: 'Read the reason that the node gives in the message.',
    retry: 'few',
  },
  node_pruned: {
    meaning: 'The node has pruned blocks that are needed.',
    action:
      'Use a node that has them (prune=0), or start with a database that is indexed beyond what the node has pruned.',
    retry: 'minute',
  },
  node_behind: {
    meaning: 'The best chain of the node has less work than the indexed one.',
    action:
      'Wait until the node has caught up; if its chain is the right one, `satscribe rollback --to HEIGHT` takes the index back to it.',
    retry: 'soon',
  },
  no_node: {
    meaning: 'The answer needs a node, or blocks, that this server does not have.',
    action:
      'Start the server with a node or with its folder of blocks; docs/ord-api.md lists the source of each field.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

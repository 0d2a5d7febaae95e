import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of the node. */
export const nodeErrors = {
  node_unreachable: {
    meaning: 'No bitcoind answers at the address.',
    action:
      'Start the node, or correct BITCOIN_RPC_URL (--node). Meanwhile a service continues to answer from its index.',
    retry: 'soon',
  },
  node_tls: {
    meaning: 'The server at the address of the node does not use TLS, or its certificate is not trusted.',
    action:
      'Correct BITCOIN_RPC_URL and BITCOIN_REST_URL. bitcoind itself uses http. If a proxy with https is in front of it, set NODE_EXTRA_CA_CERTS to the file of the authority that signed the certificate of the proxy.',
    retry: 'minute',
  },
  node_refused: {
    meaning:
      'The node denies access, because the user, the password or the cookie is wrong, or because the IP address of this program is not allowed.',
    action:
      'Correct BITCOIN_COOKIE_FILE, or BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD. rpcallowip in bitcoin.conf lists the IP addresses that may call the node.',
    retry: 'minute',
    retryOnly: 'cookieFile',
  },
  node_cookie_missing: {
    meaning:
      'The node wants a cookie, but the cookie file is missing. The node is stopping or starting, or BITCOIN_COOKIE_FILE names another file.',
    action:
      'No action is needed while the node stops or starts, because the file is read again within seconds. Otherwise correct BITCOIN_COOKIE_FILE.',
    retry: 'soon',
  },
  node_warming_up: {
    meaning: 'The node is starting and does not answer calls yet.',
    action: 'No action is needed, because the call is retried.',
    retry: 'soon',
  },
  node_answer_invalid: {
    meaning: 'The node, or something between the node and this program, gave an answer of the wrong form.',
    action:
      'Check that BITCOIN_RPC_URL and BITCOIN_REST_URL lead directly to a bitcoind, and read the log of bitcoind.',
    retry: 'soon',
  },
  node_scan_busy: {
    meaning: 'The node already scans all unspent outputs, and runs only one scan at a time.',
    action:
      'Try again in a minute. On mainnet a scan takes several minutes. A command that was interrupted may have left a scan running: `bitcoin-cli scantxoutset abort` ends it.',
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
      'Use a node that has these blocks (prune=0), or start with a database that is indexed beyond the pruned blocks.',
    retry: 'minute',
  },
  node_behind: {
    meaning: 'The best chain of the node has less work than the indexed chain.',
    action:
      'Wait until the node has caught up. If the chain of the node is the right one, return the index to it with `satscribe rollback --to HEIGHT`.',
    retry: 'soon',
  },
  no_node: {
    meaning: 'The answer needs a node, or blocks, but this server has neither.',
    action:
      'Start the server with a node, or with the folder of its blocks. docs/ord-api.md lists the source of each field.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

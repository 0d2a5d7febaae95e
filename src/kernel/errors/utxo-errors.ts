import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of sources of unspent outputs, and of the contents of the inventory. */
export const utxoErrors = {
  url_refused: {
    meaning:
      'The program must not open a URL that a client named. The URL is not http or https, has a password, has a port of another protocol, or leads to an IP address that is not public.',
    action: 'Name a URL of a public server.',
    retry: 'never',
  },
  url_unreachable: {
    meaning: 'The server of a URL did not send a complete response in time.',
    action: 'Start that server, or correct the URL.',
    retry: 'soon',
  },
  url_answer_too_long: {
    meaning: 'The response of the server of a URL is larger than this program reads.',
    action: 'Name a URL with a shorter response.',
    retry: 'never',
  },
  utxo_source_missing: {
    meaning: 'No source is available that knows the unspent outputs of an address.',
    action:
      'Start the server with a node, with --index-addresses, or with ESPLORA_URL. UTXO_SOURCE decides which of these sources is used (docs/utxos.md).',
    retry: 'never',
  },
  utxo_source_unreachable: {
    meaning: 'The server of ESPLORA_URL does not answer, or says that it is overloaded.',
    action: 'Start that server, correct ESPLORA_URL, or choose another source with UTXO_SOURCE.',
    retry: 'soon',
  },
  utxo_source_invalid: {
    meaning: 'The server of ESPLORA_URL answers in another form, or refuses the request.',
    action:
      'Check that ESPLORA_URL is the base of an Esplora API (https://mempool.example.com/api), without further paths, and that this API serves the same network.',
    retry: 'minute',
  },
  utxo_scan_busy: {
    meaning:
      'The node is scanning all unspent outputs for an address. This takes minutes on mainnet, and the node scans for one address at a time.',
    action:
      'Try again. The scan continues, and its result is kept. With --index-addresses or ESPLORA_URL no scan is needed.',
    retry: 'soon',
  },
  coins_unproven: {
    meaning:
      'A transaction for a customer’s wallet would spend outputs that may hold inscriptions, runes or special sats: this server cannot prove that they hold none.',
    action:
      'Read the reason in the message. Wait until the index is at the tip of the node. Or run the server with a node, with the index of runes, and with every block that can hold inscriptions.',
    retry: 'soon',
  },
  previous_transaction_missing: {
    meaning:
      'The transaction spends a P2PKH output. A customer’s wallet then needs the complete earlier transaction that made this output, and the node does not have it.',
    action: 'Run the server with a node that is not pruned, or pay from an address of another type.',
    retry: 'minute',
  },
  inventory_descriptor_missing: {
    meaning: 'The server does not know which outputs belong to the operator.',
    action:
      'Make a wallet with `satscribe wallet init`, and send outputs to `satscribe inventory address`. Or set INVENTORY_DESCRIPTOR to a descriptor with public keys: its outputs are only listed, and no order uses them (docs/inventory.md).',
    retry: 'never',
  },
  inventory_descriptor_invalid: {
    meaning: 'The node derives no addresses from INVENTORY_DESCRIPTOR, or the descriptor has private keys.',
    action:
      'Copy the descriptor from `listdescriptors` of your wallet, without the argument `true`. `bitcoin-cli getdescriptorinfo` says what is wrong with a descriptor.',
    retry: 'never',
  },
  inventory_output_refused: {
    meaning:
      'An output cannot be in the inventory, or this server cannot prove that it may be. It must be unspent, belong to the operator, have enough confirmations, hold no inscriptions or runes, and hold sats of the types of the inventory.',
    action: 'Read the reason in the message. `satscribe inventory scan` shows the reason for every output.',
    retry: 'never',
  },
  inventory_taken: {
    meaning:
      'Another order took a sat of the inventory that this order was going to use. No sat is reserved for this order.',
    action: 'Order again. The service then offers other sats, or says that too few are left.',
    retry: 'soon',
  },
  inventory_reserved_max: {
    meaning:
      'Orders that are unpaid or failed already reserve the maximum number of sats of the inventory. Each file reserves one sat. The limits are ORDER_RESERVED_MAX for one IP address (a key may have its own limit), ten or that limit for an IP network, and half of all sats of one type. An order that is above a limit by itself gets status 400 instead.',
    action: 'Pay for an unpaid order, cancel one, or wait until its time for payment is over (30 minutes).',
    retry: 'never',
  },
  inventory_output_unknown: {
    meaning: 'The output is not in the inventory.',
    action: '`satscribe inventory list` shows all outputs of the inventory.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

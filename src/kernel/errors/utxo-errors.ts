import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of sources of unspent outputs, and of the contents of the inventory. */
export const utxoErrors = {
  url_refused: {
    meaning:
      'A URL that others name must not be asked: it is no http or https, holds a password, names a port of another protocol, or leads to an address that is not public.',
    action: 'Name a URL of a public server.',
    retry: 'never',
  },
  url_unreachable: {
    meaning: 'The server of a URL gave no complete answer in time.',
    action: 'Start that server, or correct the URL.',
    retry: 'soon',
  },
  url_answer_too_long: {
    meaning: 'The server of a URL sends more than is read of an answer.',
    action: 'Name a URL with a shorter answer.',
    retry: 'never',
  },
  utxo_source_missing: {
    meaning: 'No source knows which outputs of an address are unspent.',
    action:
      'Start the server with a node, with --index-addresses, or with ESPLORA_URL; UTXO_SOURCE says which one is used (docs/utxos.md).',
    retry: 'never',
  },
  utxo_source_unreachable: {
    meaning: 'The server of ESPLORA_URL gives no answer, or says that it is overloaded.',
    action: 'Start it, or correct ESPLORA_URL; or name another source with UTXO_SOURCE.',
    retry: 'soon',
  },
  utxo_source_invalid: {
    meaning: 'The server of ESPLORA_URL gives an answer of another form, or refuses the question.',
    action:
      'Check that ESPLORA_URL leads to the API of an Esplora, without its paths (https://mempool.example.com/api), and of this network.',
    retry: 'minute',
  },
  utxo_scan_busy: {
    meaning:
      'The node reads all unspent outputs for an address, which takes minutes on mainnet, and does so for one at a time.',
    action:
      'Try again: the scan continues, and its result is kept. With --index-addresses or ESPLORA_URL no scan is needed.',
    retry: 'soon',
  },
  coins_unproven: {
    meaning:
      'A transaction for a customer’s wallet would spend outputs of which this server cannot prove that they hold no inscriptions, runes or special sats.',
    action:
      'Read the reason in the message: wait until the index is at the tip of the node, or run the server with a node, with the index of runes, and with every block that can hold inscriptions.',
    retry: 'soon',
  },
  previous_transaction_missing: {
    meaning:
      'A customer’s wallet needs the whole transaction whose P2PKH output it spends, and the node does not have it.',
    action:
      'Run the server with a node that is not pruned; or pay from an address of another type, which needs no such transaction.',
    retry: 'minute',
  },
  inventory_descriptor_missing: {
    meaning: 'Which outputs are the operator’s own is not known.',
    action:
      'Make a wallet (`satscribe wallet init`), and send outputs to `satscribe inventory address`; or set INVENTORY_DESCRIPTOR to a descriptor with public keys, for outputs that are listed alone (docs/inventory.md).',
    retry: 'never',
  },
  inventory_descriptor_invalid: {
    meaning: 'The node derives no addresses from INVENTORY_DESCRIPTOR, or it holds private keys.',
    action:
      'Take it from `listdescriptors` of your wallet, without `true`: `bitcoin-cli getdescriptorinfo` says what is wrong with it.',
    retry: 'never',
  },
  inventory_output_refused: {
    meaning:
      'An output cannot be in the inventory: it is spent, not the operator’s, too young, holds inscriptions or runes, or no sats of the types of the inventory; or that cannot be proven here.',
    action: 'Read the reason in the message; `satscribe inventory scan` says it of every output.',
    retry: 'never',
  },
  inventory_taken: {
    meaning:
      'Another order has got a sat of the inventory that this one would have had. Nothing of it is reserved.',
    action: 'Order again: other sats are offered, or too few are left.',
    retry: 'soon',
  },
  inventory_reserved_max: {
    meaning:
      'Orders that are not paid yet have as many sats of the inventory as they may, one for each file: those of one address ORDER_RESERVED_MAX (of a key what it was given), of its network ten, and half of those of a type. An order that could never fit is refused with 400 in place of this.',
    action: 'Pay for one of them, cancel one, or wait until the time of one is over: 30 minutes.',
    retry: 'never',
  },
  inventory_output_unknown: {
    meaning: 'The output is not in the inventory.',
    action: 'Look at `satscribe inventory list`.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

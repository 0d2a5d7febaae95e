import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of orders. */
export const orderErrors = {
  orders_off: {
    meaning:
      'The service accepts no orders, or no files for orders. It lacks a wallet, space on its disk, a process with its seed, a block, or a node that relays reveals.',
    action:
      'Read in the message what is missing. `satscribe wallet init` makes a wallet, and WALLET_SEED_FILE names its seed (docs/wallet.md). Bitcoin Core relays reveals by default.',
    retry: 'minute',
  },
  fx_rates_missing: {
    meaning:
      'Prices of coins in dollars are unknown, because FX_RATES_FILE is not set or its rates are more than an hour old.',
    action:
      'Try again later, or use prices from elsewhere. The operator sets FX_RATES_FILE, or checks the program that writes this file (docs/orders-api.md, "Amounts in dollars").',
    retry: 'minute',
  },
  test_payments_spent: {
    meaning:
      'The test payments of an account have used all sats of the day (TOKENPAY_TEST_PAY), or this test payment would need more than is left.',
    action: 'Try again tomorrow, or with an order of fewer sats. The operator can raise TOKENPAY_TEST_PAY.',
    retry: 'never',
  },
  test_payment_refused: {
    meaning: 'The node refuses the transaction of a test payment.',
    action:
      'Read the reason in the message. Wait for a block, because the node limits chains of unconfirmed transactions, or send more coins to the wallet for tests.',
    retry: 'minute',
  },
  miner_silent: {
    meaning:
      'An order has a transaction above the standard size, and the miner for such transactions (NONSTANDARD_MINER_URL) does not answer.',
    action:
      'Send the order again in a minute. Files below the standard size need no such miner. The operator checks whether the miner answers as docs/miner.md describes.',
    retry: 'minute',
  },
  order_refuses: {
    meaning:
      'The state of the order does not allow the request, for example a paid order cannot be cancelled.',
    action: 'Read the state of the order. docs/orders-api.md, "States", lists what each state allows.',
    retry: 'never',
  },
  destination_refused: {
    meaning:
      'The money would go to a script that no one can spend safely: a script without an address, an anchor, an unknown witness version, or a Taproot key that is not on the curve.',
    action: 'Name an address of the person who receives the money.',
    retry: 'never',
  },
  destination_own: {
    meaning:
      'The money would go to an address of this service: of an order, of a deposit, of its own outputs, or of its inventory.',
    action: 'Name an address of the person who receives the money.',
    retry: 'never',
  },
  idempotency_key_reused: {
    meaning: 'The Idempotency-Key of this request was already used with a different body.',
    action: 'Use a new key for each creation. Use the same key only to send the same body again.',
    retry: 'never',
  },
  idempotency_key_busy: {
    meaning: 'The first request with this Idempotency-Key is still being processed.',
    action:
      'Send the request again with the same key and the same body. The response is that of the first request.',
    retry: 'soon',
  },
  file_gone: {
    meaning:
      'The file was deleted. Its order ended long ago, or the file was uploaded a week ago and no order uses it.',
    action: 'Read the content from its inscription (`/content/<id>`), or from the original file.',
    retry: 'never',
  },
  inscription_not_indexed: {
    meaning:
      'The index does not have a parent or a delegate of the order, and the index is not yet at the tip of its node.',
    action: 'Send the order again once the index is at the tip of the chain (`/status`).',
    retry: 'minute',
  },
  audit_differs: {
    meaning: 'The ledger of orders does not match the chain and the index.',
    action:
      '`satscribe audit` lists each difference with its order and what to do. `satscribe orders show` shows the payments, transactions and ledger entries of an order (docs/orders-operator.md, "Audit"). No ledger entry is ever deleted or changed.',
    retry: 'never',
  },
  audit_impossible: {
    meaning:
      'Orders cannot be compared with the chain now, because the index, the scan for payments and the node have not reached the same block.',
    action:
      'Wait until the index is at the tip of the node (`/status`) while a service follows payments, and run the command again.',
    retry: 'minute',
  },
  order_unknown: {
    meaning: 'There is no order with this id.',
    action: 'Correct the id. `satscribe orders list` shows all orders.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

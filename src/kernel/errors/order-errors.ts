import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of orders. */
export const orderErrors = {
  orders_off: {
    meaning:
      'The service takes no orders, or no files for them: it has no wallet, no room on its disk, no process with its seed, no block, or a node that relays no reveals.',
    action:
      'The message says what is missing: `satscribe wallet init` makes a wallet, WALLET_SEED_FILE names its seed (docs/wallet.md), and Bitcoin Core relays reveals by default.',
    retry: 'minute',
  },
  fx_rates_missing: {
    meaning:
      'Prices of coins in dollars are not known: FX_RATES_FILE is not set, or its rates are more than an hour old.',
    action:
      'Ask again later, or take prices from elsewhere. The operator sets FX_RATES_FILE and looks why the program that writes it does not (docs/orders-api.md, "Amounts in dollars").',
    retry: 'minute',
  },
  test_payments_spent: {
    meaning: 'Test payments of an account took the sats of the day (TOKENPAY_TEST_PAY), or this one would.',
    action:
      'Try again tomorrow, or with an order that asks for fewer sats. The operator can raise TOKENPAY_TEST_PAY.',
    retry: 'never',
  },
  test_payment_refused: {
    meaning: 'The node does not take the transaction of a test payment.',
    action:
      'The message has its reason. Wait for a block, as chains of unconfirmed transactions have an end, or send more coins to the wallet for tests.',
    retry: 'minute',
  },
  miner_silent: {
    meaning:
      'An order has a transaction above the standard size, and the miner that is to take it (NONSTANDARD_MINER_URL) does not answer.',
    action:
      'Send the order again in a minute. The operator looks whether the miner answers as docs/miner.md says; files below the standard size need none.',
    retry: 'minute',
  },
  order_refuses: {
    meaning:
      'The state of an order does not allow what was asked: to cancel one that something was paid for, for example.',
    action: 'Look at its state; docs/orders-api.md, "States", says what each one allows.',
    retry: 'never',
  },
  destination_refused: {
    meaning:
      'Money would be sent where no one, or anybody, can spend it: to a script without an address, an anchor, a witness version of the future, or a Taproot key that is not on the curve.',
    action: 'Name an address of the person who is to have it.',
    retry: 'never',
  },
  destination_own: {
    meaning:
      'Money would be sent to an address of this service: of an order, of a deposit, of its own outputs, or of its inventory.',
    action: 'Name an address of the person who is to have it.',
    retry: 'never',
  },
  idempotency_key_reused: {
    meaning: 'The Idempotency-Key of a creation was already used with a different body.',
    action: 'Use a new key for each creation; the same one only to send the same body again.',
    retry: 'never',
  },
  idempotency_key_busy: {
    meaning: 'The first creation with this Idempotency-Key is not answered yet.',
    action: 'Send it again, with the same key and body: the answer is that of the first one.',
    retry: 'soon',
  },
  file_gone: {
    meaning:
      'A file was deleted: its order ended long ago, or it was uploaded a week ago and no order names it.',
    action:
      'Take the content from its inscription (`/content/<id>`), or from where it was before it was ordered or uploaded.',
    retry: 'never',
  },
  inscription_not_indexed: {
    meaning:
      'An order names a parent or delegate that the index lacks, and the index is not yet at the tip of its node.',
    action: 'Send the order again once the index is at the tip of the chain (`/status`).',
    retry: 'minute',
  },
  audit_differs: {
    meaning: 'The ledger of orders is not what the chain and the index have.',
    action:
      '`satscribe audit` names each difference with its order and what to do; `satscribe orders show` has payments, transactions and entries of an order (docs/orders-operator.md, "Audit"). No entry is ever lost or changed.',
    retry: 'never',
  },
  audit_impossible: {
    meaning: 'Orders cannot be compared with the chain now: index, payments and node are not at one block.',
    action:
      'Wait until the index is at the tip of the node (`/status`), with a service that follows payments, and run it again.',
    retry: 'minute',
  },
  order_unknown: {
    meaning: 'There is no order with this id.',
    action: 'Correct the id; `satscribe orders list` shows all.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

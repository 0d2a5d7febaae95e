import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of operators' commands for token payments. */
export const tokenpayErrors = {
  tokenpay_unknown: {
    meaning: 'No order of a shop has a confirmed output with this outpoint.',
    action:
      '`satscribe tokenpay orders` shows the outputs of each order. An output is known once it has as many confirmations as TOKENPAY_CONFIRMATIONS asks for.',
    retry: 'never',
  },
  tokenpay_refuses: {
    meaning:
      'The output is not set aside any more: it is credited, or it was decided before what happens to it. Each output is decided about once.',
    action: 'Look at it with `satscribe tokenpay orders --aside`: it says who decided, when and why.',
    retry: 'never',
  },
  tokenpay_withdrawal_unknown: {
    meaning: 'No account has a withdrawal with this id.',
    action: '`satscribe tokenpay withdrawals` lists them.',
    retry: 'never',
  },
  tokenpay_withdrawal_refuses: {
    meaning:
      'The withdrawal cannot be cancelled: a transaction of it was signed, which may be mined, or the withdrawal is over.',
    action:
      'Read it (`GET /tokenpay/user/withdrawal/<id>`, `satscribe tokenpay withdrawals show <id>`): it says in which state it is, and why.',
    retry: 'never',
  },
  tokenpay_address_last: {
    meaning:
      'A key cannot delete the last address to which its account withdraws now: the account would withdraw to any address.',
    action:
      'Add another address and wait until it counts, or ask the operator (`satscribe tokenpay addresses --forbid ADDRESS --any`).',
    retry: 'never',
  },
  tokenpay_addresses_max: {
    meaning: 'An account lists as many addresses to withdraw to as it can.',
    action: 'Delete one of them first (`DELETE /tokenpay/user/account/addresses/<address>`).',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

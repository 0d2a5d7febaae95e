import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of operators' commands for token payments. */
export const tokenpayErrors = {
  tokenpay_unknown: {
    meaning: 'No confirmed output with this outpoint belongs to an order of a shop.',
    action:
      '`satscribe tokenpay orders` shows the outputs of each order. An output is shown once it has TOKENPAY_CONFIRMATIONS confirmations.',
    retry: 'never',
  },
  tokenpay_refuses: {
    meaning:
      'The output is no longer set aside: it was credited, or someone has already decided about it. Only one decision is possible for each output.',
    action: 'Read who decided, when and why with `satscribe tokenpay orders --aside`.',
    retry: 'never',
  },
  tokenpay_withdrawal_unknown: {
    meaning: 'No account has a withdrawal with this id.',
    action: '`satscribe tokenpay withdrawals` lists the withdrawals.',
    retry: 'never',
  },
  tokenpay_withdrawal_refuses: {
    meaning:
      'The withdrawal cannot be cancelled. One of its transactions was signed and may be mined, or the withdrawal has ended.',
    action:
      'Read its state and the reason with `GET /tokenpay/user/withdrawal/<id>` or `satscribe tokenpay withdrawals show <id>`.',
    retry: 'never',
  },
  tokenpay_address_last: {
    meaning:
      'A key cannot delete the last active withdrawal address of its account, because the account could then withdraw to any address.',
    action:
      'Add another address and wait until it is active, or ask the operator (`satscribe tokenpay addresses --forbid ADDRESS --any`).',
    retry: 'never',
  },
  tokenpay_addresses_max: {
    meaning: 'The account already has the maximum number of withdrawal addresses.',
    action: 'Delete one of these addresses first (`DELETE /tokenpay/user/account/addresses/<address>`).',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

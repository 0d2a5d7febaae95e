import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of payouts. */
export const payoutErrors = {
  payouts_nothing: {
    meaning: 'Nothing can be paid out. The message says what is owed, and why it cannot be paid now.',
    action:
      'Wait until deliveries have PAYOUT_CONFIRMATIONS confirmations and shares are above the dust limit. `satscribe payouts referrals`, `satscribe payouts creators` and `satscribe payouts revenue` show what is missing.',
    retry: 'never',
  },
  payouts_above_free: {
    meaning:
      'The requested amount is more revenue than the operator can take out now. The rest is owed to others, reserved, or has too few confirmations.',
    action:
      'Request a smaller amount, or leave --sats out to take everything that is available. `satscribe payouts revenue` shows this amount.',
    retry: 'never',
  },
  payouts_refuses: {
    meaning:
      'There is no such payout, or its state does not allow the request: a payout cannot be cancelled once its transaction is signed, because the transaction may be mined.',
    action: 'Read its state with `satscribe payouts list`.',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

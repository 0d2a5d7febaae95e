import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of payouts. */
export const payoutErrors = {
  payouts_nothing: {
    meaning: 'There is nothing to pay out: the message says what is owed, and what keeps it.',
    action:
      'Wait until deliveries are PAYOUT_CONFIRMATIONS deep and shares are above the dust limit; `satscribe payouts referrals`, `satscribe payouts creators` and, of revenue, `satscribe payouts revenue` show what is missing.',
    retry: 'never',
  },
  payouts_above_free: {
    meaning:
      'More revenue was asked for than the operator can take: the rest is owed, reserved, or not deep yet.',
    action:
      'Ask for less, or for all that can be taken without --sats; `satscribe payouts revenue` shows the sum.',
    retry: 'never',
  },
  payouts_refuses: {
    meaning:
      'There is no such payout, or its state does not allow what was asked: one whose transaction is signed may be mined.',
    action: 'Look at its state with `satscribe payouts list`.',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

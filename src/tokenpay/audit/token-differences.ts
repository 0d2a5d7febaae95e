/** Types of differences in shop accounts, and what the operator should do. */
export const tokenDifferences = {
  supply: {
    what: 'units of a rune that are in the ledger, set aside, or not credited yet, and units at the addresses of charges',
    action:
      'stop all withdrawals, and run satscribe verify; if the index is right, a unit was credited twice, lost or spent elsewhere, so report it',
  },
  balance: {
    what: 'the balance of an account, and the sum of its ledger entries',
    action: 'stop the withdrawals of this account, and report it; the ledger entries are valid',
  },
  entries: {
    what: 'the ledger entries of an order of a shop, and its credits',
    action:
      'keep the process with the seed running, which adds credits to the ledger; if the difference stays, report it',
  },
  withdrawals: {
    what: 'the amount that the ledger entries of a batch of withdrawals take from an account, and the amount of its completed withdrawals',
    action:
      'stop all withdrawals, and keep the process with the seed running, which adds the payments in blocks to the ledger; if the difference stays, report it',
  },
  reserved: {
    what: 'the reserved units of a balance, and the units of the open withdrawals of its account',
    action: 'stop the withdrawals of this account, and report it; the withdrawals are valid',
  },
  spent: {
    what: 'whether a coin of accounts is stored as spent, and whether a stored transaction that may be mined spends the coin (1: yes)',
    action: 'stop all withdrawals, and report it; the transactions are valid',
  },
  credit: {
    what: 'the block of a credit, and the block of its payment',
    action:
      'keep the process with the seed running, which removes the credits that a reorganisation took back; if the difference stays, report it',
  },
} as const;
type TokenDifferenceKind = keyof typeof tokenDifferences;

/** A difference between the holdings of accounts of shops and their incoming payments. */
export interface TokenDifference {
  readonly kind: TokenDifferenceKind;
  /** Name of the rune, account, output or order, in words for people. */
  readonly where: string;
  /** Amount in base units, or in sats. */
  readonly noted: bigint;
  readonly found: bigint;
}

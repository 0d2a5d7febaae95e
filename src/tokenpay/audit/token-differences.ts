/** Types of differences in shop accounts, and what the operator should do. */
export const tokenDifferences = {
  supply: {
    what: 'units of a rune by the ledger, set aside, and not credited yet, and those at the addresses of charges',
    action:
      'stop all withdrawals, and run satscribe verify. If the index is right, a unit was credited twice, lost or spent elsewhere: report it',
  },
  balance: {
    what: 'the balance of an account, and the sum of its ledger entries',
    action: 'stop its withdrawals, and report it: the entries count',
  },
  entries: {
    what: 'the ledger entries of an order of a shop, and its credits',
    action: 'keep the process with the seed running: it posts credits. If the difference stays, report it',
  },
  withdrawals: {
    what: 'the amount that the ledger entries of a batch of withdrawals take from an account, and its completed withdrawals',
    action:
      'stop all withdrawals, and keep the process with the seed running: it posts the payments of blocks. If the difference stays, report it',
  },
  reserved: {
    what: 'the reserved units of a balance, and those of the open withdrawals of its account',
    action: 'stop its withdrawals, and report it: the withdrawals count',
  },
  spent: {
    what: 'whether a coin of accounts is noted as spent, and whether a stored transaction that may be mined spends it (1: yes)',
    action: 'stop all withdrawals, and report it: the transactions count',
  },
  credit: {
    what: 'the block of a credit, and that of its payment',
    action:
      'keep the process with the seed running: it takes back the credits of a reorganisation. If the difference stays, report it',
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

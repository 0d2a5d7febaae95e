/** Differences of accounts of shops, and what an operator does about each. */
export const tokenDifferences = {
  supply: {
    what: 'units of a rune that the ledger, what is set aside and what is not credited yet come to, and those that the addresses of charges hold',
    action:
      'let no withdrawal be made; run satscribe verify: if the index is right, a unit was credited twice, lost or spent elsewhere: report it',
  },
  balance: {
    what: 'the balance of an account, and the sum of its ledger entries',
    action: 'let no withdrawal of it be made, and report it: the entries count',
  },
  entries: {
    what: 'the ledger entries of an order of a shop, and its credits',
    action: 'let the process with the seed run: it posts what is credited; if it stays, report it',
  },
  withdrawals: {
    what: 'what the ledger entries of a batch of withdrawals take from an account, and its completed withdrawals',
    action:
      'let no withdrawal be made; let the process with the seed run: it posts what blocks have; if it stays, report it',
  },
  reserved: {
    what: 'what a balance reserves, and what the open withdrawals of its account take',
    action: 'let no withdrawal of it be made, and report it: the withdrawals count',
  },
  spent: {
    what: 'whether a coin of accounts is noted as spent, and whether a stored transaction that may be mined spends it (1: yes)',
    action: 'let no withdrawal be made, and report it: the transactions count',
  },
  credit: {
    what: 'the block of a credit, and that of its payment',
    action:
      'let the process with the seed run: it takes back what a reorganisation took; if it stays, report it',
  },
} as const;
type TokenDifferenceKind = keyof typeof tokenDifferences;

/** A difference between what accounts of shops hold and what came for them. */
export interface TokenDifference {
  readonly kind: TokenDifferenceKind;
  /** A rune, an account, an output or an order, for people. */
  readonly where: string;
  /** Base units, or sats. */
  readonly noted: bigint;
  readonly found: bigint;
}

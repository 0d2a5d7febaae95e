/** Kinds of differences of orders, each with a description and an action for the operator. */
export const differences = {
  received: {
    what: 'payments that are in a block or in the ledger, but not in both',
    action: 'let the process with the seed run, which adds what blocks have to the ledger within a minute',
  },
  'paid-back': {
    what: 'sats that refunds in blocks paid',
    action: 'check its refund transactions (satscribe orders show) before you pay anything by hand',
  },
  paid: {
    what: 'sats that payouts in blocks paid, by share and by output',
    action: 'make no payout, pay nothing by hand, and report it with the output of satscribe payouts list',
  },
  postage: {
    what: 'sats in the outputs of delivered inscriptions',
    action: 'compare its reveals with a block explorer, and report the difference',
  },
  fee: {
    what: 'fees that miners received',
    action: 'compare its transactions with a block explorer, and report the difference',
  },
  held: {
    what: 'sats that belong to customers or to us, and sats that payments and transactions leave at our scripts',
    action:
      'make no payout or refund of this order by hand, and report it with the output of satscribe orders show',
  },
  overdrawn: {
    what: 'an account with a negative balance',
    action:
      'make no payout or refund of this order by hand, and report it with the output of satscribe orders show',
  },
  missing: {
    what: 'an output at our script that was spent, but not by a transaction of ours',
    action:
      'find the transaction that spent the output with a block explorer. If it was not yours (satscribe wallet recover or restore, another wallet with this seed), stop the service and move the remaining coins to a new seed',
  },
  'not-mined': {
    what: 'a transaction that the ledger counts, but that is not in a block',
    action:
      'let the process with the seed run, which removes the ledger entries of transactions that a reorganisation removed',
  },
  'not-counted': {
    what: 'a transaction of the order that is in a block, but that the ledger does not count',
    action:
      'let the process with the seed run; if the difference stays, the order may have been delivered twice, so report it',
  },
  delivered: {
    what: 'inscriptions that are at the scripts of their receivers',
    action:
      'run satscribe verify; if the index is right, the inscriptions are not at the ordered addresses, so tell the customer and report it',
  },
  unlisted: {
    what: 'an output at our script that is in a block, but not in the table of coins',
    action:
      'let the process with the seed run, which lists the output when it processes the order; if the difference stays, report it',
  },
  'not-there': {
    what: 'a coin in the table of coins that was spent, but not by a transaction of ours',
    action:
      'find the transaction that spent the coin with a block explorer, and report it, because no transaction should spend this coin',
  },
  holder: {
    what: 'a coin that is listed as free but is not free, or is free but not listed as free',
    action:
      'let the process with the seed run, which corrects the table when it processes the order; if the difference stays, stop the service and report it',
  },
  reserved: {
    what: 'sats of the inventory that an order still reserves although it ended, or failed more than a day ago',
    action:
      'let the process with the seed run, which releases the sats when it processes the order; if the difference stays, report it',
  },
} as const;

/** Kinds of `differences` that have another meaning for funds of the operator. */
export const fundDifferences = {
  received: {
    what: 'coins of the operator that are in a block or in the ledger, but not in both',
    action: 'let the process with the seed run, which adds what blocks have to the ledger within a minute',
  },
  unlisted: {
    what: 'a coin of the operator in a block that is not listed as free',
    action:
      'let the process with the seed run, which lists the coin at the next block; if the difference stays, report it',
  },
  missing: {
    what: 'a coin of the operator that was spent, but not by a transaction of ours',
    action:
      'find the transaction that spent the coin with a block explorer. If it was yours (satscribe wallet restore, another wallet with the seed), no customer loses anything and no bump spends the coin, but the coin is listed here and by /health/ready as long as this database is served. If it was not yours, stop the service and move the remaining coins to a new seed',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

/** Kinds of `differences` that have another meaning for payouts. */
export const payoutDifferences = {
  'not-counted': {
    what: 'a transaction of the payout that is in a block, but that the ledger does not count',
    action: 'let the process with the seed run, which adds what blocks have to the ledger within a minute',
  },
  unlisted: {
    what: 'the change of a payout that is in a block, but not in the table of coins',
    action:
      'let the process with the seed run, which lists the output at the next block; if the difference stays, report it',
  },
  holder: {
    what: 'the change of a payout that is not listed as free',
    action:
      'let the process with the seed run, which corrects the table at the next block; if the difference stays, report it',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

export type DifferenceKind = keyof typeof differences;

/** Kinds of differences of collections for sale. */
export const collectionDifferences = {
  taken: {
    what: 'the counter of items with an order, and the number of items with an order',
    action:
      'close the sale (satscribe mint close) and report it, because orders may be refused, or more items sold than the collection has',
  },
  unpaid: {
    what: 'the counter of unpaid items, and the number of items in unpaid orders',
    action: 'report it; nothing is sold twice, but orders may be refused too early',
  },
  phase: {
    what: 'the counter of a phase, and the number of items in its orders',
    action:
      'report it, because the phase may sell more or fewer items than it has; satscribe mint close ends the sale',
  },
  items: {
    what: 'the number of items in the order, and the number of items that belong to the order',
    action:
      'close the sale, and before the order is paid, compare it with what it inscribes (satscribe orders show)',
  },
  allowance: {
    what: 'the number of items that the list allows for an address, and the number of items in its paid orders',
    action:
      'do nothing if its creator lowered the list later (POST /updatecollectionphases); otherwise report it',
  },
  standing: {
    what: 'the items that an order should have in its state, and the items that it has',
    action:
      'let the process with the seed run, which releases or takes the items when it processes the order; if the difference stays on an order that is queued or completed, another order may sell the same items, so close the sale and report it',
  },
  earned: {
    what: 'sats of the creator by the price of delivered items, and sats by the ledger',
    action:
      'make no payout to this creator, and report it with the output of satscribe mint earnings and satscribe orders show',
  },
} as const;
export type CollectionDifferenceKind = keyof typeof collectionDifferences;

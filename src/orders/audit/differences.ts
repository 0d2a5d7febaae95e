/** Kinds of differences of orders, each with a description and an action for the operator. */
export const differences = {
  received: {
    what: 'payments that are in a block or in the ledger, but not in both',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  'paid-back': {
    what: 'sats that refunds in blocks paid',
    action: 'look at its refund transactions (satscribe orders show) before anything is paid by hand',
  },
  paid: {
    what: 'sats that payouts in blocks paid, by share and by output',
    action: 'request no payout, pay nothing by hand, and report it with satscribe payouts list',
  },
  postage: {
    what: 'sats in the outputs of delivered inscriptions',
    action: 'compare its reveals with a block explorer, and report it',
  },
  fee: {
    what: 'fees that miners got',
    action: 'compare its transactions with a block explorer, and report it',
  },
  held: {
    what: 'sats that are owed or ours, and the sats that payments and transactions leave at our scripts',
    action: 'make no payout or refund of it by hand; report it with satscribe orders show',
  },
  overdrawn: {
    what: 'an account with a negative balance',
    action: 'make no payout or refund of it by hand; report it with satscribe orders show',
  },
  missing: {
    what: 'an output at our script that is spent, but not by a transaction of ours',
    action:
      'find what spent it with a block explorer: if it was not you (satscribe wallet recover or restore, another wallet with this seed), stop the service and move the rest to a new seed',
  },
  'not-mined': {
    what: 'a transaction that the ledger counts and no block has',
    action:
      'let the process with the seed run: it takes back entries of transactions that a reorganisation removed',
  },
  'not-counted': {
    what: 'a transaction of the order that a block has and the ledger does not count',
    action: 'let the process with the seed run; if it stays, it may have delivered twice: report it',
  },
  delivered: {
    what: 'inscriptions that are at the scripts of their receivers',
    action:
      'run satscribe verify: if the index is right, they are not at the ordered addresses: tell the customer, and report it',
  },
  unlisted: {
    what: 'an output at our script that a block has and the table of coins lacks',
    action:
      'let the process with the seed run: it lists the output when it looks at the order; if the difference stays, report it',
  },
  'not-there': {
    what: 'a coin of the table of coins that is spent, but not by a transaction of ours',
    action: 'find what spent it with a block explorer, and report it: no plan may spend it',
  },
  holder: {
    what: 'a coin that is listed as free and is not, or is free and not listed so',
    action:
      'let the process with the seed run: it corrects the table when it looks at the order; if the difference stays, stop the service and report it',
  },
  reserved: {
    what: 'sats of the inventory that an order still reserves although it is over, or failed more than a day ago',
    action:
      'let the process with the seed run: it releases them when it looks at the order; if the difference stays, report it',
  },
} as const;

/** Kinds of `differences` that have another meaning for funds of the operator. */
export const fundDifferences = {
  received: {
    what: 'coins of the operator that are in a block or in the ledger, but not in both',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  unlisted: {
    what: 'a coin of the operator in a block that is not listed as free',
    action:
      'let the process with the seed run: it lists the coin with the next block; if the difference stays, report it',
  },
  missing: {
    what: 'a coin of the operator that is spent, but not by a transaction of ours',
    action:
      'find what spent it with a block explorer: if it was you (satscribe wallet restore, another wallet with the seed), no customer loses anything and no bump spends it, but it is listed here and by /health/ready as long as this database is served; if it was not you, stop the service and move the rest to a new seed',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

/** Kinds of `differences` that have another meaning for payouts. */
export const payoutDifferences = {
  'not-counted': {
    what: 'a transaction of the payout that a block has and the ledger does not count',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  unlisted: {
    what: 'the change of a payout in a block that is not in the table of coins',
    action:
      'let the process with the seed run: it lists the output with the next block; if the difference stays, report it',
  },
  holder: {
    what: 'the change of a payout that is not listed as free',
    action:
      'let the process with the seed run: it corrects the table with the next block; if the difference stays, report it',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

export type DifferenceKind = keyof typeof differences;

/** Kinds of differences of collections for sale. */
export const collectionDifferences = {
  taken: {
    what: 'the counter of items with an order, and the items that have one',
    action:
      'close its sale (satscribe mint close) and report it: orders may be refused, or sold more than there is',
  },
  unpaid: {
    what: 'the counter of unpaid items, and the items of unpaid orders',
    action: 'report it: nothing is sold twice, but orders may be refused too soon',
  },
  phase: {
    what: 'the counter of a phase, and the items of its orders',
    action:
      'report it: the phase may sell more or fewer items than it has; satscribe mint close ends its sale',
  },
  items: {
    what: 'the number of items that an order says, and the items that belong to it',
    action:
      'close the sale, and compare the order with what it inscribes (satscribe orders show) before it is paid',
  },
  allowance: {
    what: 'the items that the list allows an address, and the items of its paid orders',
    action: 'nothing, if its creator lowered the list since (POST /updatecollectionphases); else report it',
  },
  standing: {
    what: 'the items that an order should have in its state, and the items that it has',
    action:
      'let the process with the seed run: it releases or takes the items when it looks at the order; if the difference stays on an order that is queued or completed, another order may sell the same items: close the sale, and report it',
  },
  earned: {
    what: 'sats of the creator: by the price of what was delivered, and by the ledger',
    action:
      'request no payout of this creator, and report it with satscribe mint earnings and satscribe orders show',
  },
} as const;
export type CollectionDifferenceKind = keyof typeof collectionDifferences;

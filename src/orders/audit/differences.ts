/** What can differ, and what an operator does about it. */
export const differences = {
  received: {
    what: 'payments in blocks that the ledger does not have, or has and no block has',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  'paid-back': {
    what: 'what refunds in blocks paid',
    action: 'look at its refund transactions (satscribe orders show) before anything is paid by hand',
  },
  paid: {
    what: 'what payouts in blocks paid, by share and by output',
    action: 'ask for no payout, and pay nothing of it by hand; report it with satscribe payouts list',
  },
  postage: {
    what: 'what lies with delivered inscriptions',
    action: 'compare its reveals with a block explorer, and report it',
  },
  fee: { what: 'what miners got', action: 'compare its transactions with a block explorer, and report it' },
  held: {
    what: 'what is owed or ours, and what its payments and transactions leave of it at our scripts',
    action: 'make no payout or refund of it by hand; report it with satscribe orders show',
  },
  overdrawn: {
    what: 'an account that gave more than it had',
    action: 'make no payout or refund of it by hand; report it with satscribe orders show',
  },
  missing: {
    what: 'an output at our script that nothing of ours spent, and that is not unspent',
    action:
      'find what spent it with a block explorer: if you did not (satscribe wallet recover or restore, another wallet with this seed), stop the service and move the rest to a new seed',
  },
  'not-mined': {
    what: 'a transaction that the ledger counts and no block has',
    action: 'let the process with the seed run: it takes back what a reorganisation took',
  },
  'not-counted': {
    what: 'a transaction of the order that a block has and the ledger does not count',
    action: 'let the process with the seed run; if it stays, it may have delivered twice: report it',
  },
  delivered: {
    what: 'inscriptions at the scripts of their receivers',
    action:
      'run satscribe verify: if the index is right, they are not where they were ordered: tell the customer, and report it',
  },
  unlisted: {
    what: 'an output at our script that a block has and the table of coins lacks',
    action:
      'let the process with the seed run: it lists it when it looks at the order; if it stays, report it',
  },
  'not-there': {
    what: 'a coin of the table of coins that nothing of ours spent, and that is not unspent',
    action: 'find what spent it with a block explorer, and report it: no plan may count on it',
  },
  holder: {
    what: 'a coin that the table of coins has as free and is not, or the other way round',
    action:
      'let the process with the seed run: it corrects it when it looks at the order; if it stays, stop the service and report it',
  },
  reserved: {
    what: 'sats of the inventory that an order keeps although it is over, or failed more than a day ago',
    action:
      'let the process with the seed run: it releases them when it looks at the order; if it stays, report it',
  },
} as const;

/** The same for funds of the operator, where it is something else. */
export const fundDifferences = {
  received: {
    what: 'coins of the operator in blocks that the ledger does not have, or has and no block has',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  unlisted: {
    what: 'a coin of the operator in a block that the table of coins lacks, or has as not free',
    action: 'let the process with the seed run: it lists it with the next block; if it stays, report it',
  },
  missing: {
    what: 'a coin of the operator that nothing of ours spent, and that is not unspent',
    action:
      'find what spent it with a block explorer: if you did (satscribe wallet restore, another wallet with the seed), no customer is owed anything of it and no bump spends it, but it stays named here and by /health/ready as long as this database is served; if you did not, stop the service and move the rest to a new seed',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

/** The same for payouts. */
export const payoutDifferences = {
  'not-counted': {
    what: 'a transaction of the payout that a block has and the ledger does not count',
    action: 'let the process with the seed run: it posts what blocks have within a minute',
  },
  unlisted: {
    what: 'the change of a payout in a block that the table of coins lacks',
    action: 'let the process with the seed run: it lists it with the next block; if it stays, report it',
  },
  holder: {
    what: 'the change of a payout that the table of coins has as not free',
    action: 'let the process with the seed run: it corrects it with the next block; if it stays, report it',
  },
} as const satisfies Partial<Record<DifferenceKind, { readonly what: string; readonly action: string }>>;

export type DifferenceKind = keyof typeof differences;

/** Kinds of differences of collections for sale. */
export const collectionDifferences = {
  taken: {
    what: 'the counter of its items that orders have, and the items that have an order',
    action:
      'close its sale (satscribe mint close) and report it: orders may be refused, or promised too much',
  },
  unpaid: {
    what: 'the counter of its items that are not paid for, and those of its unpaid orders',
    action: 'report it: nothing is sold twice, but orders may be refused too soon',
  },
  phase: {
    what: 'the counter of a phase, and the items of its orders',
    action:
      'report it: the phase may sell more or fewer items than it has; satscribe mint close ends its sale',
  },
  items: {
    what: 'the items of an order, and those that have this order',
    action:
      'close the sale, and compare the order with what it inscribes (satscribe orders show) before it is paid',
  },
  allowance: {
    what: 'the items that the list allows an address, and those of its paid orders',
    action: 'nothing, if its creator lowered the list since (POST /updatecollectionphases); else report it',
  },
  standing: {
    what: 'the items that an order in this state has, and those that it has',
    action:
      'let the process with the seed run: it gives them back, or takes them, when it looks at the order; if it stays on an order that is queued or completed, another one may sell the same items: close the sale, and report it',
  },
  earned: {
    what: 'sats of the creator: the price of what was delivered, and the ledger',
    action:
      'ask for no payout of this creator; report it with satscribe mint earnings and satscribe orders show',
  },
} as const;
export type CollectionDifferenceKind = keyof typeof collectionDifferences;

/**
 * The states of orders that answers show (client-compat of the public interface; docs/orders-api.md, "States"). `prep`:
 * paid, its reveal is not stored yet. `waiting-reveal`: its reveal is stored, and sent once its commit is deep enough
 * to etch a name. `waiting-rune-balance`: its mints are stored, and being broadcast or mined. `queued`: its reveal is
 * stored, and being broadcast or mined.
 */
export const orderStates = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'prep',
  'waiting-reveal',
  'waiting-rune-balance',
  'queued',
  'completed',
  'expired',
  'cancelled',
  'waiting-refund',
  'refunded',
  'error',
] as const;
export type OrderState = (typeof orderStates)[number];

/**
 * What can happen to an order. `seen`: the amount is in the mempool or a block, and so are its parents. `gone`: it is
 * no longer, or is found to be too little. `parentless`: a parent is not there. `arrived`: all parents were seen at
 * their deposits. `paid`: the amount and the parents are there in time, as deep as the policy asks. `repriced`: they
 * came late, and after a rise of fees the difference is asked for. `unpaid`: they were, and a reorganisation took them
 * back. `timeout`: the time to pay is over, or the sat that it was for is gone. `planned`: its reveal is signed and
 * stored. `committed`: the same, and it waits for the depth of its commit. `minting`: its mints are signed and stored.
 * `revealed`: the index has its inscriptions, or blocks decided about all of its mints, deep enough. `undone`: a
 * reorganisation took them back. `owing`: there is money that no delivery uses. `cancelled`: by its customer or the
 * operator. `failed`: its reveal cannot be made or mined. `unmined`: a miner refused its reveal, or no block had it in
 * time, or the sats of all its files are gone, or another transaction has the name that it etches. `retried`: by the
 * operator. `refunding`: by the operator. `refunded`: all that was owed is paid back, deep enough.
 */
export const orderEvents = [
  'seen',
  'gone',
  'parentless',
  'arrived',
  'paid',
  'repriced',
  'unpaid',
  'timeout',
  'planned',
  'committed',
  'minting',
  'revealed',
  'undone',
  'owing',
  'cancelled',
  'failed',
  'unmined',
  'retried',
  'refunding',
  'refunded',
] as const;
export type OrderEvent = (typeof orderEvents)[number];

/** The only transitions there are: every other pair is refused and recorded. */
export const transitions: Readonly<Record<OrderState, Readonly<Partial<Record<OrderEvent, OrderState>>>>> = {
  'waiting-payment': {
    seen: 'waiting-confirmation',
    parentless: 'waiting-parent',
    paid: 'prep',
    // the customer is told, and pays the difference or cancels
    repriced: 'waiting-payment',
    timeout: 'expired',
    cancelled: 'cancelled',
    // short at the end of its time, or late
    owing: 'waiting-refund',
  },
  'waiting-parent': {
    seen: 'waiting-confirmation',
    arrived: 'waiting-payment',
    paid: 'prep',
    repriced: 'waiting-payment',
    timeout: 'expired',
    cancelled: 'cancelled',
    owing: 'waiting-refund',
  },
  'waiting-confirmation': {
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    paid: 'prep',
    // a payment was replaced by a late one
    repriced: 'waiting-payment',
  },
  prep: {
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
    // what came has none of the satributes that the order allows, or its name is taken
    owing: 'waiting-refund',
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    failed: 'error',
  },
  'waiting-reveal': {
    planned: 'queued',
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    // what its commit holds is refunded
    unmined: 'waiting-refund',
    // by the operator, while no mempool and no block has its commit
    refunding: 'waiting-refund',
  },
  'waiting-rune-balance': {
    revealed: 'completed',
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    // what its commit holds is refunded
    unmined: 'waiting-refund',
    // by the operator, while no mempool and no block has its transactions
    refunding: 'waiting-refund',
  },
  queued: {
    revealed: 'completed',
    // the payment is gone from its block: another reveal is planned once it is back
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    failed: 'error',
    // what its commit holds is refunded
    unmined: 'waiting-refund',
    // by the operator, while no mempool and no block has its transactions
    refunding: 'waiting-refund',
  },
  completed: { undone: 'queued', minting: 'waiting-rune-balance' },
  // a payment in time may become known late
  expired: {
    seen: 'waiting-confirmation',
    paid: 'prep',
    repriced: 'waiting-payment',
    owing: 'waiting-refund',
  },
  cancelled: { owing: 'waiting-refund' },
  'waiting-refund': {
    refunded: 'refunded',
    // it was paid in time, and that became known late
    seen: 'waiting-confirmation',
    paid: 'prep',
    repriced: 'waiting-payment',
    // the payment was replaced or evicted before it was mined: nothing is owed
    gone: 'expired',
    // a block has the reveal that nobody sent any more, and so no refund of the same money
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
  },
  refunded: { owing: 'waiting-refund', undone: 'waiting-refund' },
  // `gone`: what was paid does not pay for its transactions, and more may
  error: {
    retried: 'prep',
    gone: 'waiting-payment',
    refunding: 'waiting-refund',
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
  },
};

/** States of orders whose transactions are stored, and not delivered yet. */
export const deliveringStates = [
  'waiting-reveal',
  'waiting-rune-balance',
  'queued',
] as const satisfies readonly OrderState[];

/** Whether the transactions of an order are stored, and not delivered yet. */
export const isDelivering = (state: OrderState): boolean =>
  deliveringStates.some((delivering) => delivering === state);

/** The state after an event; null: the state refuses it. Pure. */
export function nextState(state: OrderState, event: OrderEvent): OrderState | null {
  return transitions[state][event] ?? null;
}

/** Whether a text can be the id of an order: a UUID. */
export const isOrderId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u.test(text);

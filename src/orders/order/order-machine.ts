import { isUuid } from '#kernel/primitives/uuid.ts';

/**
 * The states of orders in answers (client-compat of the public interface; docs/orders-api.md, "States"). `prep`: the
 * order is paid, but its reveal is not stored yet. `waiting-reveal`: the reveal is stored, and is sent once its commit
 * is deep enough to etch a name. `waiting-rune-balance`: the mints are stored, and are being broadcast or mined.
 * `queued`: the reveal is stored, and is being broadcast or mined.
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
 * Events of an order.
 *
 * - `seen`: the amount and the parents are in the mempool or a block.
 * - `gone`: the amount is no longer present, or is found to be too little.
 * - `parentless`: a parent is missing.
 * - `arrived`: all parents were seen at their deposits.
 * - `paid`: the amount and the parents arrived in time, and are as deep as the policy requires.
 * - `repriced`: the amount or a parent came late, and after a rise of fees the difference is charged.
 * - `unpaid`: a reorganisation removed the amount or a parent.
 * - `timeout`: the time to pay is over, or the sat of the order is gone.
 * - `planned`: the reveal is signed and stored.
 * - `committed`: the reveal is signed and stored, but waits for the depth of its commit.
 * - `minting`: the mints are signed and stored.
 * - `revealed`: the index has the inscriptions deep enough, or blocks decided about all mints, deep enough.
 * - `undone`: a reorganisation removed the inscriptions or mints.
 * - `owing`: there is money that no delivery uses.
 * - `cancelled`: the customer or the operator cancelled the order.
 * - `failed`: the reveal cannot be made or mined.
 * - `unmined`: the miner refused the reveal, or no block had it in time; or the sats of all files are gone; or another
 * transaction has the name that the order etches.
 * - `retried`, `refunding`: requests of the operator.
 * - `refunded`: everything that was owed is refunded, deep enough.
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

/** All allowed transitions. Any other pair is refused and recorded. */
export const transitions: Readonly<Record<OrderState, Readonly<Partial<Record<OrderEvent, OrderState>>>>> = {
  'waiting-payment': {
    seen: 'waiting-confirmation',
    parentless: 'waiting-parent',
    paid: 'prep',
    // the customer gets a message, and then pays the difference or cancels
    repriced: 'waiting-payment',
    timeout: 'expired',
    cancelled: 'cancelled',
    // too little arrived before the time ended, or the payment is late
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
    // a late payment replaced another payment
    repriced: 'waiting-payment',
  },
  prep: {
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
    // the payments have no sat that the order allows, or the name is taken
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
    // the commit's outputs are refunded
    unmined: 'waiting-refund',
    // requested by the operator, while the commit is in no mempool and no block
    refunding: 'waiting-refund',
  },
  'waiting-rune-balance': {
    revealed: 'completed',
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    // the commit's outputs are refunded
    unmined: 'waiting-refund',
    // requested by the operator, while the transactions are in no mempool and no block
    refunding: 'waiting-refund',
  },
  queued: {
    revealed: 'completed',
    // the payment lost its block, so another reveal is planned once the payment is back
    unpaid: 'waiting-confirmation',
    gone: 'waiting-payment',
    parentless: 'waiting-parent',
    failed: 'error',
    // the commit's outputs are refunded
    unmined: 'waiting-refund',
    // requested by the operator, while the transactions are in no mempool and no block
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
    // the order was paid in time, but this became known late
    seen: 'waiting-confirmation',
    paid: 'prep',
    repriced: 'waiting-payment',
    // the payment was replaced or evicted before it was mined, so nothing is owed
    gone: 'expired',
    // a block has the reveal that was no longer broadcast, so the refund of the same money can never be mined
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
  },
  refunded: { owing: 'waiting-refund', undone: 'waiting-refund' },
  // `gone`: the payments do not pay for the transactions, but further payments may
  error: {
    retried: 'prep',
    gone: 'waiting-payment',
    refunding: 'waiting-refund',
    planned: 'queued',
    committed: 'waiting-reveal',
    minting: 'waiting-rune-balance',
  },
};

/** States of orders whose transactions are stored, but not delivered yet. */
export const deliveringStates = [
  'waiting-reveal',
  'waiting-rune-balance',
  'queued',
] as const satisfies readonly OrderState[];

/** Whether the transactions of an order are stored, but not delivered yet. */
export const isDelivering = (state: OrderState): boolean =>
  deliveringStates.some((delivering) => delivering === state);

/** The state after an event. Returns null if the state refuses the event. Pure. */
export function nextState(state: OrderState, event: OrderEvent): OrderState | null {
  return transitions[state][event] ?? null;
}

/** Whether a text can be the id of an order: a UUID. */
export const isOrderId = (text: string): boolean => isUuid(text);

// The state of an order, and the customer's next step, in plain words. Pure.
import { plural, satsWords } from './amounts.js';
import { isRunePayable, runeWords } from './rune-charge.js';

/** @import { Order, OrderState } from './order-shapes.js' */
/** @import { TokenPayCharge } from './rune-charge.js' */

/**
 * Words about an order's state. `wait`: the customer has nothing to do. `pay`: the customer must send something.
 * `done`: everything is inscribed. `over`: the order has ended. `halted`: the customer or the operator must act.
 *
 * @typedef {{
 *   readonly tone: 'wait' | 'pay' | 'done' | 'over' | 'halted',
 *   readonly title: string,
 *   readonly words: readonly string[],
 * }} Told
 */

/**
 * @param {number} ms since 1970
 * @returns {string} in the time of the reader
 */
export const momentWords = (ms) =>
  new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/**
 * The sats that the customer must still send, in one payment. 0 if everything is paid.
 *
 * @param {Order} order
 */
export const askedSats = ({ psbt, missing, received, charge }) =>
  psbt?.body.chargeAmount ?? missing ?? (received === undefined ? charge.amount : 0);

/**
 * Whether the customer must pay the order, and the service would still accept a payment now. The service decides this,
 * because a browser's clock may be wrong.
 *
 * @param {Order} order
 */
export const isPayable = (order) => order.psbt !== undefined || isRunePayable(order);

/**
 * Parents that have not arrived yet.
 *
 * @param {Order} order
 */
export const awaitedParents = (order) => (order.parents ?? []).filter(({ txid }) => txid === undefined);

/** @param {Order} order */
const refundWords = ({ refundAddress }) =>
  refundAddress === undefined
    ? 'The order has no refund address: write to the operator of this service, with the id of the order.'
    : `It goes to ${refundAddress}, minus the fee of that transaction.`;

/** @param {Order} order */
const lateWords = ({ refundAddress }) =>
  refundAddress === undefined
    ? 'Do not pay this order: a payment would wait until the operator refunds it.'
    : 'Do not pay this order: a payment is only refunded, minus a fee.';

/**
 * @param {Order} order that waits, and needs no payment
 * @param {number} now
 * @returns {Told}
 */
function toldOfNothingAsked(order, now) {
  if (order.received !== undefined && order.missing === undefined)
    return { tone: 'wait', title: 'Payment seen', words: ['It is being checked. There is nothing to do.'] };
  return {
    tone: 'wait',
    title: order.expiresAt <= now ? 'The time to pay is over' : 'The order accepts no more payments',
    words: [
      `A payment that was sent in time still counts. ${lateWords(order)}`,
      'The order will be closed in a moment.',
    ],
  };
}

/**
 * @param {Order} order
 * @param {number} now
 * @returns {Told}
 */
function toldOfPayment(order, now) {
  if (!isPayable(order)) return toldOfNothingAsked(order, now);
  const { repriced, underpaid } = order;
  const until = momentWords(order.expiresAt);
  if (order.tokenPayCharge !== undefined) return toldOfRune(order.tokenPayCharge, until);
  const asked = satsWords(askedSats(order));
  if (repriced !== undefined && order.missing !== undefined) {
    return {
      tone: 'pay',
      title: `Fees rose: ${asked} more`,
      words: [
        `Your payment arrived after the price had expired, and the fee rate is now ${repriced.to} sat/vB instead of ${repriced.from}. The order now costs ${satsWords(order.charge.amount)} instead of ${satsWords(repriced.before)}.`,
        `Send ${asked} to the same address until ${momentWords(repriced.until)}, or cancel the order: your payment is then refunded, minus a fee. ${order.refundAddress === undefined ? refundWords(order) : ''}`,
      ],
    };
  }
  if (underpaid === true) {
    return {
      tone: 'pay',
      title: `${asked} are missing`,
      words: [
        'A part of the payment has arrived.',
        `Send ${asked} to the same address until ${until}. Otherwise your payment is refunded, minus a fee. ${order.refundAddress === undefined ? refundWords(order) : ''}`,
      ],
    };
  }
  return {
    tone: 'pay',
    title: 'Waiting for your payment',
    words: [
      `Send exactly ${asked} to the address below until ${until}. This page will show it within seconds.`,
    ],
  };
}

/**
 * @param {TokenPayCharge} charge
 * @param {string} until
 * @returns {Told}
 */
const toldOfRune = ({ feeCharge, tokenCharge }, until) => ({
  tone: 'pay',
  title: 'Waiting for your payment',
  words: [
    `Pay ${runeWords(tokenCharge)} and ${satsWords(feeCharge.amount)} until ${until}. Both must arrive, or nothing is inscribed.`,
  ],
});

/**
 * @param {Order} order
 * @param {number} now
 * @returns {Told}
 */
function toldOfParents(order, now) {
  const awaited = awaitedParents(order).length;
  const asked = askedSats(order);
  if (!isPayable(order)) return toldOfPayment(order, now);
  const parents = awaited === 0 ? 'Parents' : plural(awaited, 'parent');
  return {
    tone: 'pay',
    title: `Waiting for ${awaited === 1 ? 'the parent' : parents.toLowerCase()}`,
    words: [
      `Send ${awaited === 1 ? 'the parent' : 'each parent'} to its deposit address below until ${momentWords(order.expiresAt)}, with the sats of its output. The delivery will return it.`,
      asked === 0 ? 'The payment has arrived.' : `Also pay ${satsWords(asked)} to the address below.`,
    ],
  };
}

/**
 * @param {Order} order that etches a rune
 * @param {string} name
 * @returns {Told}
 */
function toldOfEtching(order, name) {
  if (order.state === 'completed')
    return {
      tone: 'done',
      title: `${name} is etched`,
      words: ['It is in a block, and your units are at your address.'],
    };
  return {
    tone: 'wait',
    title: `${name} is being etched`,
    words: [
      'It waits for a block: about ten minutes, longer if the fee rate is low. You may close this page.',
    ],
  };
}

/**
 * @param {Order} order that mints
 * @returns {Told}
 */
function toldOfMints(order) {
  const { rune = '', numberOfMints = 0, executedMints = 0, mintingTxs = [] } = order;
  if (order.state === 'completed')
    return {
      tone: executedMints === numberOfMints ? 'done' : 'over',
      title: `${executedMints} of ${plural(numberOfMints, 'mint')} of ${rune}`,
      words: executedMints === 0 ? [] : ['They are in blocks, and the runes are at your address.'],
    };
  return {
    tone: 'wait',
    title: `${mintingTxs.length} of ${plural(numberOfMints, 'mint')} of ${rune} sent`,
    words: [
      'They wait for blocks: about ten minutes, longer if the fee rate is low. You may close this page.',
    ],
  };
}

/**
 * @param {Order} order
 * @returns {Told}
 */
function toldOfDelivery(order) {
  if (order.orderType === 'rune-mint') return toldOfMints(order);
  if (order.runeProperties !== undefined)
    return toldOfEtching(order, order.rune ?? order.runeProperties.rune ?? 'The rune');
  const { files, inscribedCount, payToAnchor } = order;
  const sent = files.filter(({ inscriptionId }) => inscriptionId !== undefined).length;
  if (order.state === 'completed') {
    const count = inscribedCount ?? files.length;
    return {
      tone: 'done',
      title:
        payToAnchor === true
          ? `${plural(count, 'inscription')} inscribed and burned`
          : `${plural(count, 'inscription')} delivered`,
      words: [
        ...(payToAnchor === true
          ? []
          : [`${count === 1 ? 'It is' : 'They are'} in a block, at your address.`]),
        ...(order.overpaid === true
          ? [
              `You paid more than the price. ${order.refundAddress === undefined ? '' : 'The rest is refunded. '}${refundWords(order)}`,
            ]
          : []),
      ],
    };
  }
  return {
    tone: 'wait',
    title:
      sent === 0
        ? files.length === 1
          ? 'The inscription is being sent'
          : 'The inscriptions are being sent'
        : `${sent} of ${plural(files.length, 'inscription')} sent`,
    words: [
      `${files.length === 1 ? 'It waits' : 'They wait'} for a block: about ten minutes, longer if the fee rate is low. You may close this page.`,
    ],
  };
}

/** @type {Readonly<Record<OrderState, (order: Order, now: number) => Told>>} */
const toldByState = {
  'waiting-payment': toldOfPayment,
  'waiting-parent': toldOfParents,
  'waiting-confirmation': () => ({
    tone: 'wait',
    title: 'Payment seen',
    words: ['It waits for a block: about ten minutes. There is nothing to do: you may close this page.'],
  }),
  prep: () => ({
    tone: 'wait',
    title: 'Paid',
    words: ['The transactions of your order are being created. There is nothing to do.'],
  }),
  'waiting-reveal': () => ({
    tone: 'wait',
    title: 'The name is being claimed',
    words: [
      'A first transaction claims the name. The second one etches it five blocks later: about an hour. You may close this page.',
    ],
  }),
  'waiting-rune-balance': toldOfDelivery,
  queued: toldOfDelivery,
  completed: toldOfDelivery,
  expired: (order) => ({
    tone: 'over',
    title: 'Expired',
    words: [
      `No payment arrived in time. ${lateWords(order)}`,
      'Order again to get a new address and the current price.',
    ],
  }),
  cancelled: (order) => ({ tone: 'over', title: 'Cancelled', words: [lateWords(order)] }),
  'waiting-refund': (order) => ({
    tone: order.refundAddress === undefined ? 'halted' : 'wait',
    title: 'Your payment is being refunded',
    words: [`Nothing was inscribed. ${refundWords(order)}`],
  }),
  refunded: ({ refund }) => ({
    tone: 'over',
    title: 'Refunded',
    words: [
      refund === undefined
        ? 'Your payment was refunded.'
        : `${satsWords(refund.amount)} were refunded to ${refund.address}.`,
    ],
  }),
  error: (order) => ({
    tone: 'halted',
    title: 'Stopped',
    words: [
      'The operator of this service is informed, and will resume or refund the order.',
      ...(order.refundAddress === undefined ? [refundWords(order)] : []),
    ],
  }),
};

/**
 * @param {Order} order
 * @param {number} now ms since 1970
 * @returns {Told}
 */
export function told(order, now) {
  const { tone, title, words } = toldByState[order.state](order, now);
  const reasons = order.error === undefined ? [] : [`Reason: ${order.error}`];
  return { tone, title, words: [...words, ...reasons].map((each) => each.trim()) };
}

const stepNames = /** @type {const} */ (['Ordered', 'Paid', 'Confirmed', 'Sent', 'Inscribed']);
const etchingSteps = [...stepNames.slice(0, -1), 'Etched'];
const mintSteps = [...stepNames.slice(0, -1), 'Minted'];

/** Number of finished steps of an order, by its state. `null` if an order in this state shows no steps. */
/** @type {Readonly<Record<OrderState, number | null>>} */
const stepsBehind = {
  'waiting-payment': 1,
  'waiting-parent': 1,
  'waiting-confirmation': 2,
  prep: 3,
  'waiting-reveal': 3,
  'waiting-rune-balance': 3,
  queued: 3,
  completed: 5,
  expired: null,
  cancelled: null,
  'waiting-refund': null,
  refunded: null,
  error: null,
};

/**
 * The steps of an order. `null` if the order will not lead to inscriptions any more.
 *
 * @param {Order} order
 * @returns {readonly { readonly name: string, readonly is: 'done' | 'current' | 'ahead' }[] | null}
 */
export function stepsOf(order) {
  const behind = stepsBehind[order.state];
  if (behind === null) return null;
  const isSent =
    (order.state === 'queued' && order.files.some(({ inscriptionId }) => inscriptionId !== undefined)) ||
    (order.state === 'waiting-rune-balance' && (order.mintingTxs ?? []).length > 0);
  const done = isSent ? behind + 1 : behind;
  const names =
    order.orderType === 'rune-mint'
      ? mintSteps
      : order.runeProperties === undefined
        ? stepNames
        : etchingSteps;
  return names.map((name, index) => ({
    name,
    is: index < done ? 'done' : index === done ? 'current' : 'ahead',
  }));
}

/** @param {Order} order */
export const canCancel = ({ state, underpaid, repriced }) =>
  (state === 'waiting-payment' || state === 'waiting-parent') &&
  (underpaid !== true || repriced !== undefined);

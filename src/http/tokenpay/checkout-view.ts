import { atLeastDust } from '#kernel/bitcoin/transaction-size.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import type { Checkout } from '#tokenpay/checkout.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import { nameWithEtching } from '#tokenpay/telling/token-order-answer.ts';
import type { Site } from '#web/layout.ts';
import {
  type CheckoutCharge,
  type CheckoutChargeState,
  type CheckoutState,
  type CheckoutView,
  feeWords,
  isPayable,
} from '#web/pages/checkout.page.ts';

/** Facts about the service for the page. */
interface CheckoutPlace {
  /** `null` if the process does not know the site yet. */
  readonly site: Site | null;
  readonly network: string;
}

/**
 * An order in the form that its payer sees. It lacks the account, the description, the webhook, and payments that
 * belong to no charge. Pure.
 */
export function checkoutView(checkout: Checkout, now: Date, place: CheckoutPlace): CheckoutView {
  const { order, missing, symbol, isEtchedAgain } = checkout;
  const { rune, expiresAt, successUrl } = order;
  const isTimeOver = order.state === 'error' || now >= expiresAt;
  const units = (amount: bigint): string => shownAmount(trustedU128(amount), rune.divisibility);
  const name = isEtchedAgain ? nameWithEtching(rune) : rune.name;
  const token = chargeView(checkout, 'token', isTimeOver, (amount) => `${units(amount)} ${name}`);
  const fee = chargeView(checkout, 'fee', isTimeOver, feeWords);
  const sentSats = missing.fee.amount === 0n ? 0n : atLeastDust(missing.fee.amount, missing.fee.script);
  return {
    ...place,
    state: stateOf(checkout, isTimeOver, [token, fee]),
    token: { ...token, name, symbol, missingUnits: units(missing.token.amount) },
    fee: { ...fee, missingSats: missing.fee.amount, sentSats },
    expiresAt,
    successUrl,
  };
}

function chargeView(
  checkout: Checkout,
  kind: ChargeKind,
  isTimeOver: boolean,
  words: (units: bigint) => string,
): CheckoutCharge {
  const { order, missing, confirmations } = checkout;
  const { address, amount, txid } = order.charges[kind];
  const { seen } = missing[kind];
  const arrived = amount - missing[kind].amount;
  const needed = confirmations[kind];
  return {
    state: chargeStateOf(checkout, kind, isTimeOver),
    address,
    asked: words(amount),
    missing: words(missing[kind].amount),
    arrived: arrived === 0n || arrived === amount ? null : words(arrived),
    confirmations: seen === null ? null : { count: Math.min(seen.confirmations, needed), needed },
    txid: txid === null ? null : displayHash(txid),
  };
}

/** The state of a charge. A payment that was seen has precedence, so that the customer does not pay twice. */
function chargeStateOf(
  { order, missing, isEtchedAgain }: Checkout,
  kind: ChargeKind,
  isTimeOver: boolean,
): CheckoutChargeState {
  const { amount, seen } = missing[kind];
  if (order.charges[kind].state === 'completed' || amount === 0n) return 'paid';
  if (seen !== null) return seen.isInTime && order.state !== 'error' ? 'seen' : 'late';
  if (isTimeOver) return 'over';
  if (isEtchedAgain) return 'unasked';
  return amount < order.charges[kind].amount ? 'partly' : 'open';
}

function stateOf(
  { order, isEtchedAgain }: Checkout,
  isTimeOver: boolean,
  charges: readonly CheckoutCharge[],
): CheckoutState {
  if (order.state === 'completed') return 'completed';
  if (order.state === 'error') return 'over';
  if (isTimeOver) return 'closing';
  if (isEtchedAgain) return 'etched-again';
  return charges.some(isPayable) ? 'open' : 'waiting';
}

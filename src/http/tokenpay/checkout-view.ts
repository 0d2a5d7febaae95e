import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import type { OpenTokenOrder } from '#tokenpay/open-token-order.ts';
import type { ChargeKind } from '#tokenpay/order/token-order.ts';
import type { Site } from '#web/layout.ts';
import { type CheckoutChargeState, type CheckoutView, feeWords } from '#web/pages/checkout.page.ts';

/**
 * An order as its payer sees it: without the account, the description, the webhook and what came beside. Pure.
 *
 * @param site null: the process does not know it yet
 */
export function checkoutView(open: OpenTokenOrder, now: Date, site: Site | null): CheckoutView {
  const { order, missing } = open;
  const { charges, rune, expiresAt, successUrl } = order;
  const isTimeOver = order.state === 'error' || now >= expiresAt;
  const isOver = order.state === 'error' || (isTimeOver && !isWaiting(open));
  const tokenWords = (units: bigint): string =>
    `${shownAmount(trustedU128(units), rune.divisibility)} ${rune.name}`;
  const chargeOf = (kind: ChargeKind, words: (units: bigint) => string) => ({
    state: chargeStateOf(open, kind, isTimeOver),
    address: charges[kind].address,
    asked: words(charges[kind].amount),
    missing: words(missing[kind].amount),
  });
  return {
    site,
    state: order.state === 'completed' ? 'completed' : isOver ? 'over' : 'open',
    token: chargeOf('token', tokenWords),
    fee: { ...chargeOf('fee', feeWords), missingSats: missing.fee.amount },
    expiresAt: Math.floor(expiresAt.getTime() / 1000),
    successUrl,
  };
}

const isWaiting = ({ missing }: OpenTokenOrder): boolean => missing.fee.isSeen || missing.token.isSeen;

/** A payment that is seen comes first: its customer must not pay twice. */
function chargeStateOf(
  { order, missing }: OpenTokenOrder,
  kind: ChargeKind,
  isTimeOver: boolean,
): CheckoutChargeState {
  const { amount, isSeen } = missing[kind];
  if (order.charges[kind].state === 'completed' || amount === 0n) return 'paid';
  if (isSeen) return 'seen';
  if (isTimeOver) return 'over';
  return amount < order.charges[kind].amount ? 'partly' : 'open';
}

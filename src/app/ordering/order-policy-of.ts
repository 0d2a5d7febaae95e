import assert from 'node:assert/strict';
import type { Config } from '#config/config.ts';
import { type OrderPolicy, parseConfirmations } from '#orders/order/order-policy.ts';

/** The required depths of payments and reveals, from the settings. */
export function orderPolicyOf(
  config: Pick<Config, 'orderConfirmations' | 'orderFinalConfirmations'>,
): OrderPolicy {
  const confirmations = parseConfirmations(config.orderConfirmations);
  assert(confirmations !== null, 'the settings were checked where they were read');
  return { confirmations, finalConfirmations: config.orderFinalConfirmations };
}

import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import type { WebhookMessages } from '#webhooks/outbox.ts';
import { secretPlace } from '#webhooks/secret-place.ts';

/** The subject of webhook messages about an order (docs/webhooks.md). */
export const tokenWebhookSubjectOf = (orderId: string): string => `token ${orderId}`;

/**
 * The name of an order's webhook secret. The name includes the key of the service's secret at the time of the order. So
 * open orders keep working after the service's secret changes.
 */
export const tokenSecretName = (orderId: string, secretKey: Uint8Array): string =>
  `${Buffer.from(secretKey).toString('hex')}:token order ${orderId}`;

/**
 * The message that notifies a shop of its order. It has the same form as the response to `GET`, with a placeholder for
 * the secret at the end.
 */
export function shopMessage(order: TokenOrder, answer: object): WebhookMessages {
  const { id, webhookUrl: url, secretKey } = order;
  return {
    subject: tokenWebhookSubjectOf(id),
    url,
    secretOf: secretKey === null ? undefined : tokenSecretName(id, secretKey),
    bodies: [{ ...answer, ...(secretKey === null ? {} : secretPlace) }],
  };
}

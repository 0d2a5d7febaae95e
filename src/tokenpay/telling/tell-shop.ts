import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import type { WebhookMessages } from '#webhooks/outbox.ts';
import { secretPlace } from '#webhooks/secret-place.ts';

/** The subject of the messages of an order (docs/webhooks.md). */
export const tokenWebhookSubjectOf = (orderId: string): string => `token ${orderId}`;

/**
 * The name of the webhook secret of an order. The name includes the key of the service's secret at the time of the
 * order, so a change of that secret breaks no open order.
 */
export const tokenSecretName = (orderId: string, secretKey: Uint8Array): string =>
  `${Buffer.from(secretKey).toString('hex')}:token order ${orderId}`;

/**
 * The message that notifies a shop of its order. It has the same form as the answer of `GET`, and a placeholder for the
 * secret at its end.
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

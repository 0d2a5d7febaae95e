/**
 * Progress of a message. `given-up`: all tries of the schedule failed. `gone`: its URL answered 410. `no-url`: it has
 * no receiver and can only be read.
 */
export const webhookStates = ['waiting', 'delivered', 'given-up', 'gone', 'no-url'] as const;
export type WebhookState = (typeof webhookStates)[number];

/** NOTIFY on it says that something is to be sent. */
export const webhooksChannel = 'satscribe_webhooks';

/**
 * The states of a message. `given-up`: all tries of the schedule failed. `gone`: the URL answered 410. `no-url`: the
 * message has no receiver, and can only be read.
 */
export const webhookStates = ['waiting', 'delivered', 'given-up', 'gone', 'no-url'] as const;
export type WebhookState = (typeof webhookStates)[number];

/** The channel for notifications that there are messages to send. */
export const webhooksChannel = 'satscribe_webhooks';

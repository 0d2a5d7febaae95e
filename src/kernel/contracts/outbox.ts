/**
 * The channel that notifies consumers of chain.outbox (docs/events.md). The notification is sent in the transaction
 * that adds rows. It has no content: a consumer then requests the rows after the last sequence that it processed.
 */
export const outboxChannel = 'satscribe_outbox';

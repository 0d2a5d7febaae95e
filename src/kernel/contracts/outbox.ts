/**
 * The channel for consumers of chain.outbox (docs/events.md), notified in the transaction that adds rows. The
 * notification carries nothing: a consumer then asks for the rows after the last sequence that it processed.
 */
export const outboxChannel = 'satscribe_outbox';

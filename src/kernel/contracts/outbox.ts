/**
 * Consumers of chain.outbox (docs/events.md) listen to this channel: it is notified in the transaction that adds rows. A
 * notification says nothing but that; whoever wakes asks for what lies behind the last sequence that it has taken in.
 */
export const outboxChannel = 'satscribe_outbox';

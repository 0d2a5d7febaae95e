-- What a bump pays for is counted from the payment (docs/orders.md, "Stuck transactions").

-- what the node estimated when the payment was as deep as it must be, in sats for 1,000 virtual bytes; null: nothing
ALTER TABLE service.orders ADD paid_estimate bigint CHECK (paid_estimate >= 0);
-- orders that are on their way keep what they were promised
UPDATE service.orders SET paid_estimate = (quote->>'feeEstimate')::bigint
 WHERE state IN ('prep', 'queued', 'error') AND quote ? 'feeEstimate';

CREATE INDEX ledger_entries_at ON service.ledger_entries (at);

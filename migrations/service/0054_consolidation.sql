-- A batch that joins small coins of accounts, at the operator's cost (docs/adr/0094-consolidation.md): a payout without shares
-- and without withdrawals.
ALTER TABLE service.payouts
  DROP CONSTRAINT payouts_kind_check,
  ADD CONSTRAINT payouts_kind_check CHECK (kind IN ('referral', 'creator', 'revenue', 'return', 'withdrawal', 'consolidation'));
-- what they cost within a day
CREATE INDEX payouts_consolidations ON service.payouts (asked_at) WHERE kind = 'consolidation';

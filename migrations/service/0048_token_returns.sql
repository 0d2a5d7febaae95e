-- Outputs that token payments set aside, sent to an address as a whole (docs/tokenpay.md, "For operators"). What sends one is a
-- payout of the kind `return`: it is stored, signed, sent, paid more for and proven as all payouts are.

ALTER TABLE service.payouts
  DROP CONSTRAINT payouts_kind_check,
  ADD CONSTRAINT payouts_kind_check CHECK (kind IN ('referral', 'creator', 'revenue', 'return')),
  -- the output that goes as a whole, the first input; null: it pays from free coins alone
  ADD spends_txid bytea CHECK (length(spends_txid) = 32),
  ADD spends_vout integer CHECK (spends_vout >= 0),
  -- sats for 1,000 virtual bytes that were asked for; null: what the node says
  ADD fee_rate bigint CHECK (fee_rate BETWEEN 1 AND 200000),
  ADD CONSTRAINT payouts_return_check
    CHECK ((spends_txid IS NOT NULL) = (kind = 'return') AND (spends_vout IS NOT NULL) = (kind = 'return'));

-- `outside`: what goes was never in the ledger
ALTER TABLE service.payout_shares
  DROP CONSTRAINT payout_shares_account_check,
  ADD CONSTRAINT payout_shares_account_check CHECK (account IN ('referral', 'creator', 'service', 'operator', 'outside'));

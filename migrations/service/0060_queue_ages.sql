-- Metrics read both of these in each scrape. Coins that were spent stay in the table of coins, so without an index the
-- sum of free coins reads every coin that was ever free. Failed webhooks stay for 30 days, among those delivered.
CREATE INDEX wallet_coins_unspent ON service.wallet_coins USING btree (kind) INCLUDE (value, txid, vout)
 WHERE held = 'free' AND aside IS NULL AND NOT is_spent;
CREATE INDEX webhooks_failed ON service.webhooks USING btree (state) WHERE state IN ('given-up', 'gone');

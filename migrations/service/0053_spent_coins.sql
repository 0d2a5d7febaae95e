-- Batches of withdrawals sum what accounts are owed and what their coins have. Neither costs more with what is over: spent
-- coins, ended orders and completed withdrawals (docs/adr/0093-withdrawals.md, "Costs").

-- Whether a stored transaction that may be mined, or is, spends a coin: `wallet_spends` says so, and this is kept with it.
ALTER TABLE service.wallet_coins ADD is_spent boolean NOT NULL DEFAULT false;
UPDATE service.wallet_coins AS c SET is_spent = true
  FROM service.wallet_spends AS s WHERE s.txid = c.txid AND s.vout = c.vout AND s.ended_at IS NULL;
CREATE INDEX wallet_coins_accounts ON service.wallet_coins (kind, subject) INCLUDE (value, txid, vout)
  WHERE held = 'accounts' AND aside IS NULL AND NOT is_spent;

CREATE FUNCTION service.keep_spent_coins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- two that spend the same coins take their rows in one order
  PERFORM FROM service.wallet_coins AS c JOIN (SELECT DISTINCT txid, vout FROM changed) AS s USING (txid, vout)
    ORDER BY c.txid, c.vout FOR UPDATE OF c;
  UPDATE service.wallet_coins AS c SET is_spent = s.is_live
    FROM (SELECT txid, vout, EXISTS (SELECT FROM service.wallet_spends AS live
                                      WHERE live.txid = o.txid AND live.vout = o.vout AND live.ended_at IS NULL) AS is_live
            FROM (SELECT DISTINCT txid, vout FROM changed) AS o) AS s
   WHERE c.txid = s.txid AND c.vout = s.vout AND c.is_spent <> s.is_live;
  RETURN NULL;
END $$;
CREATE TRIGGER keep_spent_coins_added AFTER INSERT ON service.wallet_spends
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION service.keep_spent_coins();
CREATE TRIGGER keep_spent_coins_changed AFTER UPDATE ON service.wallet_spends
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION service.keep_spent_coins();

-- A coin may come back after what spends it was stored. One that ends its spend meanwhile waits, and sees the coin then.
CREATE FUNCTION service.know_spent_coin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM service.wallet_spends AS s WHERE s.txid = NEW.txid AND s.vout = NEW.vout AND s.ended_at IS NULL FOR SHARE;
  NEW.is_spent := FOUND;
  RETURN NEW;
END $$;
CREATE TRIGGER know_spent_coin BEFORE INSERT ON service.wallet_coins
  FOR EACH ROW EXECUTE FUNCTION service.know_spent_coin();

-- orders of shops that have not ended, whose base fees are theirs or not yet the service's
CREATE INDEX token_orders_pending ON service.token_orders (id) WHERE state = 'pending';
-- what signed withdrawals take that no block has
CREATE INDEX withdrawals_processing ON service.withdrawals (account) WHERE state = 'processing';

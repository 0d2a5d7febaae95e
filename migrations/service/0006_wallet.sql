-- The wallet of the orders, as far as a database may know it: what derives addresses, and nothing that signs
-- (docs/wallet.md). The seed is in a file of the process that signs.
CREATE TABLE service.wallet (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  network text NOT NULL CHECK (network IN ('mainnet', 'testnet3', 'testnet4', 'signet', 'regtest')),
  -- of m/86'/coin'/0'
  account_xpub text NOT NULL CHECK (length(account_xpub) = 111),
  -- the first four bytes of the hash of the master key
  master_fingerprint text NOT NULL CHECK (master_fingerprint ~ '^[0-9a-f]{8}$'),
  -- of branch 0: one key an order
  next_order_index integer NOT NULL CHECK (next_order_index >= 0),
  -- of branch 1: outputs of the service's own
  next_own_index integer NOT NULL CHECK (next_own_index >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Two orders with one key could be paid with each other's money, and another wallet could not sign for the orders that
-- are there. So no statement, by mistake or by intent, takes an index back or changes the keys.
CREATE FUNCTION service.keep_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.next_order_index < OLD.next_order_index OR NEW.next_own_index < OLD.next_own_index THEN
    RAISE EXCEPTION 'an index of the wallet goes up alone';
  END IF;
  IF (NEW.network, NEW.account_xpub, NEW.master_fingerprint)
     IS DISTINCT FROM (OLD.network, OLD.account_xpub, OLD.master_fingerprint) THEN
    RAISE EXCEPTION 'the keys of a wallet do not change';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER keep_wallet BEFORE UPDATE ON service.wallet
  FOR EACH ROW EXECUTE FUNCTION service.keep_wallet();

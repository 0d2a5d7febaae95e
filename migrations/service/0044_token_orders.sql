-- Token payments: shops take runes (docs/tokenpay.md; docs/adr/0091-token-payments.md).

-- money leaves an account with tokenpay-withdraw alone
ALTER TABLE service.keys
  DROP CONSTRAINT keys_scopes_check,
  ADD CONSTRAINT keys_scopes_check CHECK (cardinality(scopes) > 0
    AND scopes <@ ARRAY['search', 'orders', 'tokenpay', 'tokenpay-withdraw', 'admin']);

-- Runes that were asked for or credited, as they are shown. They never change.
CREATE TABLE service.token_runes (
  asset integer PRIMARY KEY REFERENCES service.assets CHECK (asset <> 0),
  -- with spacers
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  divisibility smallint NOT NULL CHECK (divisibility BETWEEN 0 AND 38)
);

CREATE TABLE service.token_orders (
  id uuid PRIMARY KEY,
  account text NOT NULL REFERENCES service.accounts,
  created_at timestamptz NOT NULL,
  -- payments that are first seen later count towards no charge
  expires_at timestamptz NOT NULL,
  -- when it ends as an error unless it is paid: expires_at, or an hour after something that came in time was there
  ends_at timestamptz NOT NULL,
  -- when it is looked at without news; null: news alone can change it
  look_at timestamptz,
  -- payments of it wait for a block, for depth or for the index
  is_waiting boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'completed', 'error')),
  asset integer NOT NULL REFERENCES service.token_runes,
  -- sats of the fee charge: revenue, and the account's
  base_fee bigint NOT NULL CHECK (base_fee BETWEEN 0 AND 2100000000000000),
  additional_fee bigint NOT NULL CHECK (additional_fee BETWEEN 0 AND 2100000000000000),
  description text CHECK (length(description) <= 1000),
  webhook_url text,
  success_url text,
  -- public key of the secret of the service from which its webhook secret is derived
  secret_key bytea CHECK (length(secret_key) = 32),
  CHECK (expires_at > created_at AND ends_at >= expires_at),
  CHECK ((secret_key IS NULL) = (webhook_url IS NULL))
);
CREATE INDEX token_orders_account ON service.token_orders (account, created_at);
CREATE INDEX token_orders_look_at ON service.token_orders (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX token_orders_waiting ON service.token_orders (id) WHERE is_waiting;

-- The two things that an order's customer pays: a fee in sats, and a rune.
CREATE TABLE service.token_charges (
  order_id uuid NOT NULL REFERENCES service.token_orders,
  kind text NOT NULL CHECK (kind IN ('fee', 'token')),
  -- sats, or base units of the rune
  amount numeric(39,0) NOT NULL CHECK (amount BETWEEN 0 AND 340282366920938463463374607431768211455),
  script bytea NOT NULL UNIQUE CHECK (length(script) BETWEEN 1 AND 520),
  address text NOT NULL,
  -- of the key of its address: in branch 3 for the fee, in branch 0 for the token
  key_index integer NOT NULL CHECK (key_index >= 0),
  state text NOT NULL CHECK (state IN ('pending_payment', 'payment_seen', 'completed', 'expired')),
  -- the first payment of it that was seen
  txid bytea CHECK (length(txid) = 32),
  PRIMARY KEY (order_id, kind),
  UNIQUE (kind, key_index)
);

-- Confirmed outputs at addresses of charges, with what the index said of them in their block. A row goes only with that
-- block: neither a spend nor an index that is built again changes it.
CREATE TABLE service.token_credits (
  txid bytea CHECK (length(txid) = 32),
  vout integer CHECK (vout >= 0),
  order_id uuid NOT NULL,
  kind text NOT NULL,
  height integer NOT NULL CHECK (height >= 0),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  first_seen timestamptz NOT NULL,
  sats bigint NOT NULL CHECK (sats BETWEEN 0 AND 2100000000000000),
  -- an inscription is in it: nothing of it is credited, and nothing spends it
  aside text CHECK (aside = 'inscribed'),
  PRIMARY KEY (txid, vout),
  FOREIGN KEY (order_id, kind) REFERENCES service.token_charges
);
CREATE INDEX token_credits_order ON service.token_credits (order_id);
CREATE INDEX token_credits_aside ON service.token_credits (height) WHERE aside IS NOT NULL;

CREATE TABLE service.token_credit_runes (
  txid bytea,
  vout integer,
  asset integer REFERENCES service.token_runes,
  amount numeric(39,0) NOT NULL CHECK (amount BETWEEN 1 AND 340282366920938463463374607431768211455),
  PRIMARY KEY (txid, vout, asset),
  FOREIGN KEY (txid, vout) REFERENCES service.token_credits ON DELETE CASCADE
);

-- the last change of a payment that was looked at
CREATE TABLE service.token_orders_offset (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  change bigint NOT NULL DEFAULT 0 CHECK (change >= 0)
);
INSERT INTO service.token_orders_offset DEFAULT VALUES;

ALTER TABLE service.ledger_entries
  DROP CONSTRAINT ledger_entries_subject_kind_check,
  ADD CONSTRAINT ledger_entries_subject_kind_check CHECK (subject_kind IN ('order', 'funds', 'payout', 'token-order')),
  ADD CONSTRAINT ledger_entries_token_order_check CHECK (subject_kind <> 'token-order'
    OR (from_account IN ('outside', 'owed', 'service', 'token') AND to_account IN ('outside', 'owed', 'service', 'token')));

-- What accounts hold of each asset: the sums of their ledger entries, kept with each entry. A shop has hundreds of thousands.
-- After a reorganisation an account may hold less than nothing.
CREATE TABLE service.token_balances (
  account text REFERENCES service.accounts,
  asset integer REFERENCES service.assets,
  amount numeric(40,0) NOT NULL,
  PRIMARY KEY (account, asset)
);
CREATE FUNCTION service.keep_token_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO service.token_balances AS held (account, asset, amount)
  SELECT side.owner, e.asset, sum(side.amount)
    FROM added AS e
    CROSS JOIN LATERAL (VALUES (e.to_account, e.to_owner, e.amount), (e.from_account, e.from_owner, -e.amount))
      AS side (account, owner, amount)
   WHERE side.account = 'token'
   GROUP BY side.owner, e.asset
  -- two postings take their rows in one order
   ORDER BY side.owner, e.asset
  ON CONFLICT (account, asset) DO UPDATE SET amount = held.amount + excluded.amount;
  RETURN NULL;
END $$;
CREATE TRIGGER keep_token_balances AFTER INSERT ON service.ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.keep_token_balances();

ALTER TABLE service.wallet_coins
  DROP CONSTRAINT wallet_coins_kind_check,
  ADD CONSTRAINT wallet_coins_kind_check CHECK (kind IN ('order', 'bump', 'fund', 'payout', 'token-order')),
  DROP CONSTRAINT wallet_coins_check,
  ADD CONSTRAINT wallet_coins_check CHECK ((kind IN ('order', 'payout', 'token-order')) = (subject IS NOT NULL)),
  DROP CONSTRAINT wallet_coins_held_check,
  ADD CONSTRAINT wallet_coins_held_check CHECK (held IN ('free', 'reserved', 'waiting', 'accounts')),
  DROP CONSTRAINT wallet_coins_why_check,
  ADD CONSTRAINT wallet_coins_why_check CHECK (why IN (
    'payment', 'deposit', 'commit', 'excess', 'rest', 'spending', 'delivery', 'revenue', 'fund', 'credit'));

-- Collections priced in runes (docs/collections.md, "Prices in runes"; docs/adr/0096-collections-priced-in-runes.md).

-- The price of an item in a rune, and the account that gets it. Collections that were created before have none: they sell nothing.
CREATE TABLE service.mint_rune_prices (
  collection text PRIMARY KEY REFERENCES service.mint_collections ON DELETE CASCADE,
  account text NOT NULL REFERENCES service.accounts,
  -- the transaction that etched it, and the number of its name
  etching bytea NOT NULL CHECK (length(etching) = 32),
  rune numeric(39,0) NOT NULL CHECK (rune >= 0),
  -- with spacers
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  divisibility smallint NOT NULL CHECK (divisibility BETWEEN 0 AND 38),
  -- base units
  amount numeric(39,0) NOT NULL CHECK (amount BETWEEN 1 AND 340282366920938463463374607431768211455)
);
CREATE INDEX mint_rune_prices_account ON service.mint_rune_prices (account);

-- The fee charge of a token order that pays for inscriptions is the charge of their order: the same address, and sats that the
-- ledger has for that order alone.
CREATE TABLE service.token_order_fees (
  token_order uuid PRIMARY KEY REFERENCES service.token_orders,
  order_id uuid NOT NULL UNIQUE REFERENCES service.orders,
  amount bigint NOT NULL CHECK (amount BETWEEN 1 AND 2100000000000000),
  script bytea NOT NULL UNIQUE CHECK (length(script) BETWEEN 1 AND 520),
  address text NOT NULL,
  -- what the order says came in time: nothing, too little, all of it, all of it as deep as is asked; or it was cancelled
  paid text NOT NULL DEFAULT 'nothing' CHECK (paid IN ('nothing', 'part', 'seen', 'deep', 'cancelled')),
  -- the first payment of it that was seen
  txid bytea CHECK (length(txid) = 32),
  -- the charge as the token order has it
  state text NOT NULL DEFAULT 'pending_payment' CHECK (state IN ('pending_payment', 'payment_seen', 'completed', 'expired')),
  -- the token order changed since the order looked at it
  has_news boolean NOT NULL DEFAULT false
);
CREATE INDEX token_order_fees_news ON service.token_order_fees (order_id) WHERE has_news;

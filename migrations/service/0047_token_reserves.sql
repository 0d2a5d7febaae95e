-- Proofs of reserves of token payments (docs/tokenpay.md, "Proof of reserves"; docs/adr/0092-proof-of-reserves.md). All of it
-- is derived: the last documents are kept, and a new one comes with a block.

CREATE TABLE service.token_reserves (
  -- SHA-256 of the document
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  height integer NOT NULL CHECK (height >= 0),
  block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
  made_at timestamptz NOT NULL,
  -- exact text: signatures are of its bytes
  document text NOT NULL,
  -- as headers of webhooks
  signature_id text NOT NULL,
  signed_at bigint NOT NULL,
  signatures text NOT NULL
);
CREATE INDEX token_reserves_made_at ON service.token_reserves (made_at);

-- Pages of outputs with the proofs of their addresses, as they are answered.
CREATE TABLE service.token_reserve_pages (
  hash bytea REFERENCES service.token_reserves ON DELETE CASCADE,
  page integer CHECK (page >= 1),
  body text NOT NULL,
  PRIMARY KEY (hash, page)
);

-- What an account can prove of its liabilities, as it is answered.
CREATE TABLE service.token_reserve_accounts (
  hash bytea REFERENCES service.token_reserves ON DELETE CASCADE,
  account text,
  body text NOT NULL,
  PRIMARY KEY (hash, account)
);

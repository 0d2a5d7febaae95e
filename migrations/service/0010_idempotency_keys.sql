-- Keys of creations (docs/orders.md, "Once and only once"): the same request again gets the first answer.

CREATE TABLE service.idempotency_keys (
  route text NOT NULL,
  key text NOT NULL CHECK (key ~ '^[!-~]{1,255}$'),
  -- of what was sent with it
  body_hash bytea NOT NULL CHECK (length(body_hash) = 32),
  -- this making of it: only its transaction may answer
  claim uuid NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  -- as it is sent; null: it is being made
  answer text,
  PRIMARY KEY (route, key)
);
CREATE INDEX idempotency_keys_claimed_at ON service.idempotency_keys (claimed_at);

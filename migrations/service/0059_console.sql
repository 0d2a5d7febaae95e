-- The operator's console (docs/console.md, docs/adr/0102-operators-console.md). No process that answers requests with the
-- rights of the reader has any right to these tables.

-- Who signed in. The secret of a session is only in the cookie of its browser.
CREATE TABLE service.console_sessions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- sha256 of the secret
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  key_id integer NOT NULL REFERENCES service.keys,
  -- of the client that signed in
  address text NOT NULL CHECK (length(address) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  -- signed out, or ended by another session
  ended_at timestamptz
);

-- What was done with the console. A row and its action are one transaction, where the action is one.
CREATE TABLE service.console_actions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session bigint NOT NULL REFERENCES service.console_sessions,
  done_at timestamptz NOT NULL DEFAULT now(),
  account text NOT NULL,
  key_prefix text NOT NULL,
  action text NOT NULL CHECK (length(action) BETWEEN 1 AND 50),
  -- as in `order 6f1c2b1e-…`
  target text NOT NULL CHECK (length(target) BETWEEN 1 AND 200),
  parameters jsonb NOT NULL,
  -- in words; null: the process ended before it could write them
  result text
);
CREATE INDEX console_actions_target ON service.console_actions (target, id);

-- Who may ask, how often, and how often they did (docs/access.md).

CREATE TABLE service.accounts (
  name text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE service.keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account text NOT NULL REFERENCES service.accounts (name),
  -- sha256 of the key; the key itself is nowhere
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  -- how the key begins: enough to tell keys apart, far from enough to guess the rest
  prefix text NOT NULL UNIQUE,
  scope text NOT NULL CHECK (scope IN ('search', 'tokenpay', 'admin')),
  rate_per_minute integer NOT NULL CHECK (rate_per_minute > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- to within the seconds between two writes of the counts
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX keys_of_account ON service.keys (account);

CREATE TABLE service.key_usage (
  key_id integer NOT NULL REFERENCES service.keys (id),
  -- of UTC
  day date NOT NULL,
  -- search, metadata, inscription, hashes and so on: the routes that are counted together
  endpoints text NOT NULL,
  requests bigint NOT NULL,
  -- over the rate
  refused bigint NOT NULL,
  PRIMARY KEY (key_id, day, endpoints)
);

-- One bucket of tokens for each key and each address that asked lately. A crash of the server empties the table, which fills all
-- buckets. The last ask stays in its row because ON CONFLICT DO UPDATE sees columns alone.
CREATE UNLOGGED TABLE service.rate_limits (
  subject text PRIMARY KEY,
  -- as it was at that time, the tokens of the last ask taken out
  level double precision NOT NULL,
  at timestamptz NOT NULL,
  per_second double precision NOT NULL,
  burst double precision NOT NULL,
  wanted integer NOT NULL,
  given_back integer NOT NULL,
  granted integer NOT NULL
) WITH (fillfactor = 50);

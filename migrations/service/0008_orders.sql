-- Orders (docs/orders.md): what customers order, what they pay, the transactions that deliver it, and where each sat is.

CREATE TABLE service.orders (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('direct')),
  state text NOT NULL CHECK (state IN (
    'waiting-payment', 'waiting-confirmation', 'prep', 'queued', 'completed',
    'expired', 'cancelled', 'waiting-refund', 'refunded', 'error')),
  -- grows with each change of state: the sequence of what webhooks and events tell
  step integer NOT NULL DEFAULT 0 CHECK (step >= 0),
  -- of the wallet's branch for orders (docs/wallet.md); each order has a key of its own
  key_index integer NOT NULL UNIQUE CHECK (key_index >= 0),
  -- of the wallet's branch for the service's own outputs: where the revenue of this order goes
  own_index integer NOT NULL UNIQUE CHECK (own_index >= 0),
  -- the charge's script: the commit output of the only reveal, or the wallet's, which makes a commit
  script bytea NOT NULL UNIQUE CHECK (length(script) = 34),
  address text NOT NULL,
  paid_to text NOT NULL CHECK (paid_to IN ('direct', 'wallet')),
  -- sats that the customer pays, and what they consist of as the quote says
  amount bigint NOT NULL CHECK (amount > 0),
  quote jsonb NOT NULL,
  -- what the customer sent, without contents, as answers show it again
  request jsonb NOT NULL,
  -- what the reveal is planned from
  terms jsonb NOT NULL,
  webhook_url text,
  refund_script bytea CHECK (length(refund_script) BETWEEN 1 AND 520),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- a payment that is first seen later is late
  expires_at timestamptz NOT NULL,
  paid_at timestamptz,
  completed_at timestamptz,
  -- its customer wants it cancelled, which happens while nothing was paid
  cancel_asked_at timestamptz,
  -- why it is in the state `error`, for people
  error text,
  -- when it is looked at again without news; null: only news matter
  look_at timestamptz,
  CHECK ((state = 'error') <= (error IS NOT NULL))
);
CREATE INDEX orders_look_at ON service.orders (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX orders_state ON service.orders (state, created_at);

-- The leaf of each reveal of an order. With the seed, they are all that it takes to spend what its customer paid.
CREATE TABLE service.order_leaves (
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  -- of the reveal
  index integer NOT NULL CHECK (index >= 0),
  leaf bytea NOT NULL,
  PRIMARY KEY (order_id, index)
);
ALTER TABLE service.order_leaves ALTER leaf SET STORAGE EXTERNAL;

-- One row an inscription of an order, in the order of the request.
CREATE TABLE service.order_files (
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  index integer NOT NULL CHECK (index >= 0),
  -- sha256 of the content as the customer sent it, under FILES_DIR; null: a delegate without a file
  sha256 bytea CHECK (length(sha256) = 32),
  media_type text,
  -- where the file is served: part of its URL
  s3_key text UNIQUE,
  -- as answers show it, without what changes
  shown jsonb NOT NULL,
  PRIMARY KEY (order_id, index)
);

-- Every transaction that was signed for an order. It is stored before it is broadcast, and never changed.
CREATE TABLE service.order_transactions (
  txid bytea PRIMARY KEY CHECK (length(txid) = 32),
  order_id uuid NOT NULL REFERENCES service.orders,
  kind text NOT NULL CHECK (kind IN ('commit', 'reveal', 'refund')),
  -- of its kind: reveals in the order of their files
  index integer NOT NULL CHECK (index >= 0),
  -- of a reveal: how many files it inscribes
  files integer NOT NULL CHECK (files >= 0),
  bytes bytea NOT NULL,
  plan jsonb NOT NULL,
  fee bigint NOT NULL CHECK (fee >= 0),
  made_at timestamptz NOT NULL DEFAULT now(),
  -- when a node took it for the first time
  sent_at timestamptz,
  -- the node's last refusal
  refusal text,
  -- since when another one takes its place, because the payments that it spends are gone
  superseded_at timestamptz,
  -- the block that has it, once that is deep enough
  height integer CHECK (height >= 0)
);
CREATE INDEX order_transactions_order ON service.order_transactions (order_id);

-- Double entry: sats that move from one account to another. `outside` is everything that is not ours. Nothing is ever
-- changed or deleted: what a reorganisation takes back is an entry the other way round.
CREATE TABLE service.ledger_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id uuid NOT NULL REFERENCES service.orders,
  from_account text NOT NULL,
  to_account text NOT NULL,
  sats bigint NOT NULL CHECK (sats > 0),
  -- the transaction that moved them
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout bigint,
  at timestamptz NOT NULL DEFAULT now(),
  CHECK (from_account <> to_account),
  CHECK (from_account IN ('outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund')),
  CHECK (to_account IN ('outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund'))
);
CREATE INDEX ledger_entries_order ON service.ledger_entries (order_id);
CREATE INDEX ledger_entries_txid ON service.ledger_entries (txid);

-- What happened to an order, in its order: states, and events that its state refused.
CREATE TABLE service.order_events (
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY,
  event text NOT NULL,
  from_state text NOT NULL,
  -- null: the state refuses the event
  to_state text,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (order_id, id)
);

-- The last change of payments that orders have looked at (service.payment_changes).
CREATE TABLE service.orders_offset (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  change bigint NOT NULL
);


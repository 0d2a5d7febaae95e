-- What receivers are told (docs/webhooks.md): an outbox that is written with the changes that it tells of, and how far each message got.

-- Whom messages are about, e.g. an order: they are numbered, and sent one after the other.
CREATE TABLE service.webhook_subjects (
  subject text PRIMARY KEY CHECK (length(subject) BETWEEN 1 AND 200),
  last_sequence bigint NOT NULL CHECK (last_sequence > 0),
  -- the first message that waits; null: none does
  head_sequence bigint CHECK (head_sequence > 0),
  -- of its URL
  host text,
  -- its next try. While a process tries it: when another one may, because the first must have died
  due_at timestamptz,
  -- this taking of it; null: nobody tries it
  taken_by uuid,
  -- a URL that answered 410
  gone_url text,
  CHECK ((head_sequence IS NULL) = (due_at IS NULL) AND (head_sequence IS NULL) = (host IS NULL)),
  CHECK (taken_by IS NULL OR head_sequence IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX webhook_subjects_due ON service.webhook_subjects (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE service.webhooks (
  subject text NOT NULL REFERENCES service.webhook_subjects (subject),
  sequence bigint NOT NULL CHECK (sequence > 0),
  -- the same over all tries: receivers know a repetition by it
  id text NOT NULL UNIQUE,
  -- as it was given; null: nobody is told, the message can be read
  url text,
  host text,
  -- as it is sent, byte for byte
  body bytea NOT NULL CHECK (length(body) <= 1048576),
  -- the name from which the shared secret is derived; null: there is none
  secret_of text CHECK (length(secret_of) BETWEEN 1 AND 200),
  created_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'given-up', 'gone', 'no-url')),
  tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- of the last try: when, the status of the answer, and what went wrong
  tried_at timestamptz,
  status integer,
  error text,
  PRIMARY KEY (subject, sequence),
  CHECK ((url IS NULL) = (host IS NULL) AND (url IS NULL) = (state = 'no-url'))
) WITH (fillfactor = 80);
CREATE INDEX webhooks_waiting ON service.webhooks (subject, sequence) WHERE state = 'waiting';
CREATE INDEX webhooks_waiting_since ON service.webhooks (created_at) WHERE state = 'waiting';
CREATE INDEX webhooks_settled ON service.webhooks (created_at) WHERE state <> 'waiting';

-- How the last try at a host went: those that answer at once are tried first, and the others never take all places.
CREATE TABLE service.webhook_hosts (
  host text PRIMARY KEY,
  is_quick boolean NOT NULL,
  tried_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- The public keys of the signatures: the current one and, during a change, the one before.
CREATE TABLE service.webhook_keys (
  public_key bytea PRIMARY KEY CHECK (length(public_key) = 32),
  is_current boolean NOT NULL,
  since timestamptz NOT NULL
);
CREATE UNIQUE INDEX webhook_keys_current ON service.webhook_keys (is_current) WHERE is_current;

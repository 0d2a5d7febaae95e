-- One ledger for whatever holds or moves money (docs/orders.md, "Ledger"; docs/adr/0070-one-ledger.md): entries have a
-- subject, an asset and owners, and what may never happen to them is refused here.

-- What entries count: 0 is sats, all others are runes, by the transaction of their etching and their name as a number.
CREATE TABLE service.assets (
  id integer GENERATED ALWAYS AS IDENTITY CONSTRAINT assets_pkey PRIMARY KEY,
  etching bytea CONSTRAINT assets_etching_check CHECK (length(etching) = 32),
  rune numeric(39,0) CONSTRAINT assets_rune_check CHECK (rune BETWEEN 0 AND 340282366920938463463374607431768211455),
  CONSTRAINT assets_rune_key UNIQUE (etching, rune),
  CONSTRAINT assets_kind_check CHECK ((id = 0) = (etching IS NULL) AND (etching IS NULL) = (rune IS NULL))
);
INSERT INTO service.assets (id) OVERRIDING SYSTEM VALUE VALUES (0);

-- A new table: all of its columns change, and rows are written once.
CREATE TABLE service.new_entries (
  id bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  -- what the entry is of: an order, or the funds of the operator, which are one and have no id
  subject_id uuid,
  order_id uuid GENERATED ALWAYS AS (CASE subject_kind WHEN 'order' THEN subject_id END) STORED,
  -- the output that it came in with
  vout bigint,
  asset integer NOT NULL,
  subject_kind text NOT NULL,
  from_account text NOT NULL,
  -- whose account it is, where each owner has one
  from_owner text,
  to_account text NOT NULL,
  to_owner text,
  amount numeric(39,0) NOT NULL,
  -- the transaction that moved it
  txid bytea NOT NULL
);

INSERT INTO service.new_entries
  (id, at, subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid, vout)
SELECT e.id, e.at, CASE WHEN e.order_id IS NULL THEN 'funds' ELSE 'order' END, e.order_id,
       e.from_account,
       CASE WHEN e.from_account IN ('referral', 'creator', 'token') THEN coalesce(o.request->>'referral', o.referral, 'unknown') END,
       e.to_account,
       CASE WHEN e.to_account IN ('referral', 'creator', 'token') THEN coalesce(o.request->>'referral', o.referral, 'unknown') END,
       0, e.sats, e.txid, e.vout
  FROM service.ledger_entries AS e
  LEFT JOIN service.orders AS o
    ON o.id = e.order_id AND (e.from_account IN ('referral', 'creator', 'token') OR e.to_account IN ('referral', 'creator', 'token'))
 ORDER BY e.id;

DROP TABLE service.ledger_entries;
ALTER TABLE service.new_entries RENAME TO ledger_entries;
ALTER TABLE service.ledger_entries ALTER id ADD GENERATED ALWAYS AS IDENTITY;
SELECT setval(pg_get_serial_sequence('service.ledger_entries', 'id'), max(id)) FROM service.ledger_entries;

ALTER TABLE service.ledger_entries
  ADD CONSTRAINT ledger_entries_pkey PRIMARY KEY (id),
  ADD CONSTRAINT ledger_entries_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders,
  ADD CONSTRAINT ledger_entries_asset_fkey FOREIGN KEY (asset) REFERENCES service.assets,
  ADD CONSTRAINT ledger_entries_subject_kind_check CHECK (subject_kind IN ('order', 'funds')),
  ADD CONSTRAINT ledger_entries_subject_id_check CHECK ((subject_id IS NULL) = (subject_kind = 'funds')),
  -- an order and the funds hold sats alone
  ADD CONSTRAINT ledger_entries_subject_asset_check CHECK (subject_kind NOT IN ('order', 'funds') OR asset = 0),
  ADD CONSTRAINT ledger_entries_funds_check CHECK (subject_kind <> 'funds'
    OR (from_account IN ('outside', 'operator') AND to_account IN ('outside', 'operator'))),
  ADD CONSTRAINT ledger_entries_from_account_check CHECK (from_account IN (
    'outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund', 'inventory')),
  ADD CONSTRAINT ledger_entries_to_account_check CHECK (to_account IN (
    'outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund', 'inventory')),
  ADD CONSTRAINT ledger_entries_from_owner_check
    CHECK ((from_owner IS NOT NULL) = (from_account IN ('referral', 'creator', 'token'))),
  ADD CONSTRAINT ledger_entries_to_owner_check
    CHECK ((to_owner IS NOT NULL) = (to_account IN ('referral', 'creator', 'token'))),
  ADD CONSTRAINT ledger_entries_moves_check
    CHECK (from_account <> to_account OR from_owner IS DISTINCT FROM to_owner),
  ADD CONSTRAINT ledger_entries_amount_check CHECK (amount BETWEEN 1 AND 340282366920938463463374607431768211455),
  ADD CONSTRAINT ledger_entries_txid_check CHECK (length(txid) = 32),
  ADD CONSTRAINT ledger_entries_vout_check CHECK (vout BETWEEN 0 AND 4294967295);
CREATE INDEX ledger_entries_subject ON service.ledger_entries (subject_id);
-- entries are stored in the order of their times
CREATE INDEX ledger_entries_at ON service.ledger_entries USING brin (at) WITH (autosummarize = on, pages_per_range = 32);

-- Entries and assets are only ever added. The triggers are of statements: an INSERT with ON CONFLICT DO UPDATE is one too.
CREATE FUNCTION service.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of %.%: its rows are only ever added', tg_op, tg_table_schema, tg_table_name
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON service.ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON service.assets
  FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();
-- also where a session turns usual triggers off
ALTER TABLE service.ledger_entries ENABLE ALWAYS TRIGGER refuse_change;
ALTER TABLE service.assets ENABLE ALWAYS TRIGGER refuse_change;

-- Conservation: an entry takes from one account what it gives to another, in one asset. So it is left to refuse entries
-- after which an account holds less than nothing of an asset. `outside` is negative by what all others hold; `operator`
-- and `inventory` give what they got elsewhere.
CREATE FUNCTION service.refuse_overdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  overdrawn record;
BEGIN
  -- postings of one subject wait for each other: each is checked beside what the others added. A restore adds all entries
  -- at once, so there are 1,024 locks at most, which subjects share
  PERFORM pg_advisory_xact_lock(7700120, bucket)
    FROM (SELECT DISTINCT hashtext(concat(subject_kind, ' ', subject_id)) & 1023 AS bucket FROM added ORDER BY 1) AS locks;
  SELECT held.* INTO overdrawn
    FROM (SELECT DISTINCT subject_kind, subject_id FROM added WHERE subject_kind <> 'funds') AS s
    CROSS JOIN LATERAL (
      SELECT s.subject_kind, s.subject_id, side.account, side.owner, e.asset, sum(side.amount) AS amount
        FROM service.ledger_entries AS e
        CROSS JOIN LATERAL (VALUES (e.to_account, e.to_owner, e.amount), (e.from_account, e.from_owner, -e.amount))
          AS side (account, owner, amount)
       WHERE e.subject_id = s.subject_id AND e.subject_kind = s.subject_kind
         AND side.account NOT IN ('outside', 'operator', 'inventory')
       GROUP BY side.account, side.owner, e.asset HAVING sum(side.amount) < 0) AS held
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the account % of the % % would hold % of asset %',
      concat_ws(' ', overdrawn.account, overdrawn.owner), overdrawn.subject_kind, overdrawn.subject_id, overdrawn.amount, overdrawn.asset
      USING ERRCODE = 'check_violation', SCHEMA = 'service', TABLE = 'ledger_entries', CONSTRAINT = 'ledger_entries_overdrawn';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refuse_overdrawn AFTER INSERT ON service.ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_overdrawn();
ALTER TABLE service.ledger_entries ENABLE ALWAYS TRIGGER refuse_overdrawn;

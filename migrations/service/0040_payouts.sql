-- Payouts: shares that partners get, and revenue that the operator takes (docs/orders.md, "Payouts"; docs/adr/0079-payouts.md).

CREATE TABLE service.payouts (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind text NOT NULL CHECK (kind IN ('referral', 'revenue')),
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'signed', 'sent', 'mined', 'settled', 'cancelled')),
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- when a node first took a transaction of it, and when a block was first seen with one; null: not yet, or no longer
  sent_at timestamptz,
  mined_at timestamptz,
  -- key of its change in the branch of the service's own outputs, one for all that replace each other; null: not planned
  own_index integer CHECK (own_index >= 0),
  -- why nothing happens now, for people; null: nothing keeps it
  stuck text,
  -- tip since which an output that its transaction spends is not there; null: all are
  missing_since integer CHECK (missing_since >= 0)
);
-- those that blocks, coins and the node may still change
CREATE INDEX payouts_open ON service.payouts (asked_at) WHERE state NOT IN ('settled', 'cancelled');

-- What a payout pays of which account, named before it is signed. A row is never changed.
CREATE TABLE service.payout_shares (
  payout uuid NOT NULL REFERENCES service.payouts,
  account text NOT NULL CHECK (account IN ('referral', 'service', 'operator')),
  owner text,
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  address text NOT NULL,
  sats bigint NOT NULL CHECK (sats > 0),
  CHECK ((owner IS NOT NULL) = (account = 'referral'))
);
CREATE UNIQUE INDEX payout_shares_once ON service.payout_shares (payout, account, coalesce(owner, ''));
CREATE INDEX payout_shares_owner ON service.payout_shares (owner) WHERE owner IS NOT NULL;
CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON service.payout_shares
  FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();
ALTER TABLE service.payout_shares ENABLE ALWAYS TRIGGER refuse_change;

-- the subject of a transaction is the column that names it: an order, or a payout; null both: a bump
ALTER TABLE service.wallet_transactions
  ADD payout_id uuid REFERENCES service.payouts,
  DROP CONSTRAINT wallet_transactions_kind_check,
  ADD CONSTRAINT wallet_transactions_kind_check
    CHECK (kind IN ('commit', 'reveal', 'burn', 'return', 'refund', 'bump', 'payout')),
  DROP CONSTRAINT wallet_transactions_subject_check,
  ADD CONSTRAINT wallet_transactions_subject_check
    CHECK ((order_id IS NULL) = (kind IN ('bump', 'payout')) AND (payout_id IS NULL) = (kind <> 'payout')),
  DROP CONSTRAINT wallet_transactions_own_index_check1,
  ADD CONSTRAINT wallet_transactions_own_index_check1 CHECK ((own_index IS NOT NULL) = (kind IN ('bump', 'payout')));
CREATE INDEX wallet_transactions_payout ON service.wallet_transactions (payout_id) WHERE payout_id IS NOT NULL;

ALTER TABLE service.wallet_coins
  DROP CONSTRAINT wallet_coins_kind_check,
  ADD CONSTRAINT wallet_coins_kind_check CHECK (kind IN ('order', 'bump', 'fund', 'payout')),
  DROP CONSTRAINT wallet_coins_check,
  ADD CONSTRAINT wallet_coins_check CHECK ((kind IN ('order', 'payout')) = (subject IS NOT NULL));

ALTER TABLE service.ledger_entries
  DROP CONSTRAINT ledger_entries_subject_kind_check,
  ADD CONSTRAINT ledger_entries_subject_kind_check CHECK (subject_kind IN ('order', 'funds', 'payout')),
  DROP CONSTRAINT ledger_entries_subject_asset_check,
  ADD CONSTRAINT ledger_entries_subject_asset_check CHECK (subject_kind NOT IN ('order', 'funds', 'payout') OR asset = 0),
  ADD CONSTRAINT ledger_entries_payout_check CHECK (subject_kind <> 'payout'
    OR (from_account IN ('referral', 'service', 'operator') AND to_account IN ('outside', 'fee'))
    OR (to_account IN ('referral', 'service', 'operator') AND from_account IN ('outside', 'fee')));
-- what one owner holds; entries without an owner are not in them
CREATE INDEX ledger_entries_to_owner ON service.ledger_entries (to_owner, to_account) INCLUDE (amount) WHERE to_owner IS NOT NULL;
CREATE INDEX ledger_entries_from_owner ON service.ledger_entries (from_owner, from_account) INCLUDE (amount) WHERE from_owner IS NOT NULL;

-- A payout takes what orders gave: its accounts are checked over all subjects, after each posting of payouts. Postings of
-- orders are not: a reorganisation may take back what was paid out, and the partner is in debt then.
CREATE OR REPLACE FUNCTION service.refuse_overdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  overdrawn record;
BEGIN
  -- postings of one subject wait for each other: each is checked beside what the others added. Those of payouts share their
  -- accounts, so all of them do. A restore adds all entries at once, so there are 1,024 locks at most, which subjects share
  PERFORM pg_advisory_xact_lock(7700120, bucket)
    FROM (SELECT DISTINCT hashtext(concat(subject_kind, ' ', CASE WHEN subject_kind <> 'payout' THEN subject_id END)) & 1023 AS bucket
            FROM added ORDER BY 1) AS locks;
  SELECT held.* INTO overdrawn
    FROM (SELECT DISTINCT subject_kind, subject_id FROM added WHERE subject_kind NOT IN ('funds', 'payout')) AS s
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
  -- a restore adds entries of all subjects in one statement: debts among them are facts
  IF EXISTS (SELECT FROM added WHERE subject_kind <> 'payout') THEN
    RETURN NULL;
  END IF;
  SELECT o.account, o.owner, held.amount INTO overdrawn
    FROM (SELECT DISTINCT from_account AS account, from_owner AS owner FROM added WHERE from_owner IS NOT NULL) AS o
    CROSS JOIN LATERAL (
      SELECT (SELECT coalesce(sum(amount), 0) FROM service.ledger_entries WHERE to_owner = o.owner AND to_account = o.account)
           - (SELECT coalesce(sum(amount), 0) FROM service.ledger_entries WHERE from_owner = o.owner AND from_account = o.account) AS amount) AS held
   WHERE held.amount < 0 LIMIT 1;
  IF NOT FOUND THEN
    -- revenue: what is the service's and the operator's together. It is taken a few times a month, and reads the ledger
    SELECT 'service' AS account, NULL::text AS owner, held.amount INTO overdrawn
      FROM (SELECT sum(CASE WHEN to_account IN ('service', 'operator') THEN amount ELSE 0 END
                     - CASE WHEN from_account IN ('service', 'operator') THEN amount ELSE 0 END) AS amount
              FROM service.ledger_entries
             WHERE asset = 0 AND EXISTS (SELECT FROM added WHERE from_account IN ('service', 'operator') AND to_account = 'outside')) AS held
     WHERE held.amount < 0;
  END IF;
  IF FOUND THEN
    RAISE EXCEPTION 'the account % of all subjects would hold % of asset 0',
      concat_ws(' ', overdrawn.account, overdrawn.owner), overdrawn.amount
      USING ERRCODE = 'check_violation', SCHEMA = 'service', TABLE = 'ledger_entries', CONSTRAINT = 'ledger_entries_overdrawn';
  END IF;
  RETURN NULL;
END $$;

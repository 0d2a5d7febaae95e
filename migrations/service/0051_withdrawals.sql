-- Withdrawals of accounts (docs/tokenpay.md, "Withdrawals"; docs/adr/0093-withdrawals.md). A batch of them is a payout of the
-- kind `withdrawal`: it is signed, stored, sent, paid more for and followed as all payouts are.

ALTER TABLE service.payouts
  DROP CONSTRAINT payouts_kind_check,
  ADD CONSTRAINT payouts_kind_check CHECK (kind IN ('referral', 'creator', 'revenue', 'return', 'withdrawal'));

-- Units of withdrawals that the ledger does not have yet: what an account can withdraw is `amount - reserved`.
ALTER TABLE service.token_balances
  ALTER amount SET DEFAULT 0,
  ADD reserved numeric(40,0) NOT NULL DEFAULT 0 CHECK (reserved >= 0);

CREATE TABLE service.withdrawals (
  id uuid PRIMARY KEY,
  account text NOT NULL REFERENCES service.accounts,
  created_at timestamptz NOT NULL DEFAULT now(),
  asset integer NOT NULL REFERENCES service.assets,
  -- base units that were asked for
  amount numeric(39,0) NOT NULL CHECK (amount BETWEEN 1 AND 340282366920938463463374607431768211455),
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  address text NOT NULL,
  -- sats that are charged for the miner, and sats beneath the runes. Both were told before, and never change
  fee bigint NOT NULL CHECK (fee >= 0),
  postage bigint NOT NULL CHECK (postage >= 0),
  -- `balance`: the account's sats. `withdrawal`: what is withdrawn, which is sats. `operator`: the service
  payer text NOT NULL CHECK (payer IN ('balance', 'withdrawal', 'operator')),
  -- what leaves the account until the ledger has it: units of the asset, and sats beside runes
  reserved_units numeric(40,0) NOT NULL GENERATED ALWAYS AS
    (amount + CASE WHEN asset = 0 AND payer = 'balance' THEN fee ELSE 0 END) STORED,
  reserved_sats bigint NOT NULL GENERATED ALWAYS AS
    (CASE WHEN asset <> 0 AND payer = 'balance' THEN fee + postage ELSE 0 END) STORED,
  -- sats for 1,000 virtual bytes that were asked for; null: what the node says
  fee_rate bigint CHECK (fee_rate BETWEEN 1 AND 200000),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'processing', 'completed', 'error')),
  -- why it waits or has ended, for people
  reason text CHECK (length(reason) <= 1000),
  -- its batch; null: none yet
  payout uuid REFERENCES service.payouts,
  -- a batch with it failed: it gets one of its own
  is_alone boolean NOT NULL DEFAULT false,
  -- of its batch: the transaction that may be mined or is, what it pays for 1,000 virtual bytes, and how many there were
  txid bytea CHECK (length(txid) = 32),
  paid_rate bigint CHECK (paid_rate >= 0),
  tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  processing_at timestamptz,
  webhook_url text,
  -- public key of the secret of the service from which its webhook secret is derived
  secret_key bytea CHECK (length(secret_key) = 32),
  CHECK ((secret_key IS NULL) = (webhook_url IS NULL)),
  CHECK (state NOT IN ('processing', 'completed') OR (payout IS NOT NULL AND txid IS NOT NULL)),
  CHECK (state <> 'error' OR (payout IS NULL AND reason IS NOT NULL)),
  CHECK ((postage = 0) = (asset = 0) AND (payer <> 'withdrawal' OR (asset = 0 AND fee < amount)))
);
CREATE INDEX withdrawals_account ON service.withdrawals (account, created_at);
CREATE INDEX withdrawals_open ON service.withdrawals (created_at) WHERE state = 'pending';
CREATE INDEX withdrawals_payout ON service.withdrawals (payout) WHERE payout IS NOT NULL;

-- what batches left, which every withdrawal may spend
CREATE INDEX wallet_coins_left ON service.wallet_coins (value DESC) WHERE kind = 'payout' AND held = 'accounts';

-- The only scripts that an account withdraws to. Without rows it withdraws to any.
CREATE TABLE service.withdrawal_addresses (
  account text REFERENCES service.accounts,
  script bytea CHECK (length(script) BETWEEN 1 AND 520),
  address text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (account, script)
);

-- What a batch moves: accounts give to the outside and for the fee, and the operator pays the miner.
ALTER TABLE service.ledger_entries
  DROP CONSTRAINT ledger_entries_subject_kind_check,
  ADD CONSTRAINT ledger_entries_subject_kind_check
    CHECK (subject_kind IN ('order', 'funds', 'payout', 'token-order', 'withdrawal')),
  ADD CONSTRAINT ledger_entries_withdrawal_check CHECK (subject_kind <> 'withdrawal'
    OR (from_account IN ('token', 'operator') AND to_account IN ('outside', 'operator', 'fee'))
    OR (to_account IN ('token', 'operator') AND from_account IN ('outside', 'operator', 'fee')));

-- A withdrawal takes what other subjects brought: its reservation was judged by the balance, and a reorganisation may leave a debt.
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
    FROM (SELECT DISTINCT subject_kind, subject_id FROM added WHERE subject_kind NOT IN ('funds', 'payout', 'withdrawal')) AS s
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

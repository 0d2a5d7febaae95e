-- One table of signed transactions, for whatever the wallet's money moves, and one of what they spend (docs/adr/0071-wallet-transactions.md).
-- Nothing of the old table is written again but its bumps, so this takes seconds.

ALTER TABLE service.order_transactions RENAME TO wallet_transactions;
ALTER INDEX service.order_transactions_pkey RENAME TO wallet_transactions_pkey;
ALTER INDEX service.order_transactions_order RENAME TO wallet_transactions_order;
ALTER INDEX service.order_transactions_watched RENAME TO wallet_transactions_watched;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_order_id_fkey TO wallet_transactions_order_id_fkey;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_txid_check TO wallet_transactions_txid_check;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_index_check TO wallet_transactions_index_check;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_files_check TO wallet_transactions_files_check;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_fee_check TO wallet_transactions_fee_check;
ALTER TABLE service.wallet_transactions RENAME CONSTRAINT order_transactions_height_check TO wallet_transactions_height_check;

-- the subject of a transaction is the column that names it: an order; null: a bump, which pays for transactions of any
ALTER TABLE service.wallet_transactions
  ALTER order_id DROP NOT NULL,
  -- the first of those that it takes the place of, which names their family; null: of none, and others may take its own
  ADD replaces bytea REFERENCES service.wallet_transactions CHECK (replaces <> txid),
  -- of the wallet's branch for the service's own outputs: where what a bump leaves goes; null: to a key of its subject
  ADD own_index integer CHECK (own_index >= 0),
  DROP CONSTRAINT order_transactions_kind_check,
  ADD CONSTRAINT wallet_transactions_kind_check CHECK (kind IN ('commit', 'reveal', 'burn', 'return', 'refund', 'bump')),
  ADD CONSTRAINT wallet_transactions_subject_check CHECK ((order_id IS NULL) = (kind = 'bump')),
  ADD CONSTRAINT wallet_transactions_own_index_check1 CHECK ((own_index IS NOT NULL) = (kind = 'bump'));
CREATE INDEX wallet_transactions_replacing ON service.wallet_transactions (replaces) WHERE replaces IS NOT NULL;
-- bumps that a reorganisation may still change
CREATE INDEX wallet_transactions_bumps ON service.wallet_transactions (txid) WHERE kind = 'bump' AND height IS NULL;

-- a bump that can never be mined, or is no longer wanted, as the version before this one found it in each query
INSERT INTO service.wallet_transactions (txid, kind, index, files, bytes, plan, fee, own_index, replaces, made_at, sent_at, refusal, superseded_at)
SELECT b.txid, 'bump', 0, 0, b.bytes, b.plan, b.fee, b.own_index, nullif(b.family, b.txid), b.made_at, b.sent_at, b.refusal,
       CASE WHEN
         EXISTS (SELECT FROM service.bumps AS s JOIN service.payments_seen AS p ON p.txid = s.txid AND p.height IS NOT NULL
                  WHERE s.family = b.family AND s.txid <> b.txid)
         OR EXISTS (SELECT FROM service.bump_parents AS r JOIN service.wallet_transactions AS t ON t.txid = r.parent
                     WHERE r.bump = b.txid AND t.superseded_at IS NOT NULL)
         OR EXISTS (SELECT FROM service.bump_inputs AS c JOIN service.wallet_transactions AS t ON t.txid = c.txid
                     WHERE c.bump = b.txid AND t.superseded_at IS NOT NULL)
         OR EXISTS (SELECT FROM service.bump_inputs AS c JOIN service.bump_inputs AS e USING (txid, vout)
                      JOIN service.payments_seen AS p ON p.txid = e.bump AND p.height IS NOT NULL
                     WHERE c.bump = b.txid AND e.bump <> c.bump)
         OR EXISTS (SELECT FROM service.bump_inputs AS c
                      JOIN service.return_costs AS r ON r.coin_txid = c.txid AND r.coin_vout = c.vout
                      JOIN service.payments_seen AS p ON p.txid = r.txid AND p.height IS NOT NULL
                     WHERE c.bump = b.txid)
       THEN now() END
  FROM service.bumps AS b
 ORDER BY b.family = b.txid DESC, b.made_at;

ALTER TABLE service.bump_parents DROP CONSTRAINT bump_parents_bump_fkey,
  ADD CONSTRAINT bump_parents_bump_fkey FOREIGN KEY (bump) REFERENCES service.wallet_transactions;
ALTER TABLE service.bump_shares DROP CONSTRAINT bump_shares_bump_fkey,
  ADD CONSTRAINT bump_shares_bump_fkey FOREIGN KEY (bump) REFERENCES service.wallet_transactions;
DROP TABLE service.bump_inputs;
DROP TABLE service.bumps;
DROP INDEX service.return_costs_coin;
ALTER TABLE service.return_costs DROP COLUMN coin_txid, DROP COLUMN coin_vout;

-- Which family of transactions spends an output: of those that replace each other, one is mined at most. A row is never
-- deleted.
CREATE TABLE service.wallet_spends (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout integer NOT NULL CHECK (vout >= 0),
  family bytea NOT NULL,
  -- since when none of the family that spends it can be mined or is wanted; null: one is
  ended_at timestamptz
);

-- in plans, a txid is shown in reverse: hex digits are reversed, then each pair is
INSERT INTO service.wallet_spends (txid, vout, family, ended_at)
SELECT txid, vout, family, CASE WHEN count(*) = count(superseded_at) THEN max(superseded_at) END
  FROM (SELECT decode(regexp_replace(reverse(split_part(input->>'outpoint', ':', 1)), '(.)(.)', '\2\1', 'g'), 'hex') AS txid,
               split_part(input->>'outpoint', ':', 2)::integer AS vout,
               coalesce(t.replaces, t.txid) AS family, t.superseded_at
          FROM service.wallet_transactions AS t, jsonb_array_elements(t.plan->'inputs') AS i (input)) AS spent
 GROUP BY txid, vout, family;

-- an output in two plans, which nothing refused before: what a block has keeps it, else the newest. What is given up
-- here is taken up again if a block has it after all
WITH rivals AS (
  SELECT s.txid, s.vout, s.family FROM service.wallet_spends AS s
    JOIN (SELECT txid, vout FROM service.wallet_spends WHERE ended_at IS NULL GROUP BY txid, vout HAVING count(*) > 1) AS o USING (txid, vout)
   WHERE s.ended_at IS NULL
), ranked AS (
  SELECT r.family, row_number() OVER (PARTITION BY r.txid, r.vout ORDER BY bool_or(t.height IS NOT NULL OR EXISTS (
           SELECT FROM service.payments_seen AS p WHERE p.txid = t.txid AND p.height IS NOT NULL)) DESC, max(t.made_at) DESC) AS place
    FROM rivals AS r JOIN service.wallet_transactions AS t ON coalesce(t.replaces, t.txid) = r.family
   GROUP BY r.txid, r.vout, r.family
), given_up AS (SELECT DISTINCT family FROM ranked WHERE place > 1),
superseded AS (
  UPDATE service.wallet_transactions AS t SET superseded_at = now() FROM given_up
   WHERE coalesce(t.replaces, t.txid) = given_up.family AND t.superseded_at IS NULL
)
UPDATE service.wallet_spends AS s SET ended_at = now() FROM given_up
 WHERE s.family = given_up.family AND s.ended_at IS NULL;

ALTER TABLE service.wallet_spends
  ADD PRIMARY KEY (txid, vout, family),
  ADD FOREIGN KEY (family) REFERENCES service.wallet_transactions;
-- an output is never in two plans that may be mined
CREATE UNIQUE INDEX wallet_spends_live ON service.wallet_spends (txid, vout) WHERE ended_at IS NULL;
CREATE INDEX wallet_spends_family ON service.wallet_spends (family);

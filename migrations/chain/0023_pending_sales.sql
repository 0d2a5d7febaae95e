-- What pending transactions sell (docs/marketplace.md, "Pending sales"). As the other tables of the mempool: written by the
-- process that follows it, unlogged, and filled anew. One row for each inscription that is sold, with the columns of
-- chain.sales; where it comes from and goes to is in the transfer of the same position and inscription.
CREATE UNLOGGED TABLE chain.mempool_sales (
  position bigint NOT NULL,
  gross_payout bigint NOT NULL CHECK (gross_payout >= 0),
  price bigint NOT NULL CHECK (price >= 0),
  input integer NOT NULL,
  place integer NOT NULL,
  inscription_index integer NOT NULL,
  bundle integer NOT NULL CHECK (bundle > place),
  payout_output integer NOT NULL,
  fee_output integer,
  rules smallint NOT NULL,
  class smallint NOT NULL,
  form smallint NOT NULL,
  confidence smallint NOT NULL,
  sighash smallint NOT NULL,
  wash boolean NOT NULL,
  inscription_txid bytea NOT NULL CHECK (length(inscription_txid) = 32),
  maker bytea NOT NULL,
  taker bytea,
  PRIMARY KEY (position, input, place)
);

-- What readers see: as pending transfers, and of one output of a seller the newest purchase alone. The node has one spender of
-- an output at a time, but a mined one that was taken back stays here until it is known whether the node has it again.
CREATE VIEW chain.pending_sales AS
  SELECT s.*, m.txid, m.from_txid, m.from_vout, m.first_seen, m.fee, m.vsize, m.replaces
    FROM chain.mempool_sales AS s
   -- OFFSET 0: a page reads its own rows in order; estimates of the three equal columns would make the planner join all
   CROSS JOIN LATERAL (
     SELECT t.txid, t.from_txid, t.from_vout, t.first_seen, t.fee, t.vsize, t.replaces
       FROM chain.pending_transfers AS t
      WHERE t.position = s.position AND t.inscription_txid = s.inscription_txid
        AND t.inscription_index = s.inscription_index
        AND NOT EXISTS (
          SELECT FROM chain.pending_transfers AS n
           WHERE n.inscription_txid = t.inscription_txid AND n.inscription_index = t.inscription_index
             AND n.from_txid = t.from_txid AND n.from_vout = t.from_vout AND n.position > t.position)
     OFFSET 0) AS m;

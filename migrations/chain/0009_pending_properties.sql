-- Searches with a filter look into the properties of what is pending too: as in chain.inscription_details.

ALTER TABLE chain.mempool_inscriptions ADD COLUMN properties_json text;

-- a view has the columns that its table had when it was made
DROP VIEW chain.pending_inscriptions;
CREATE VIEW chain.pending_inscriptions AS
  SELECT i.*, t.first_seen, t.fee, t.vsize, t.replaces, t.block_height
    FROM chain.mempool_inscriptions AS i
    JOIN chain.pending_transactions AS t USING (position)
   WHERE NOT EXISTS (SELECT FROM chain.inscriptions AS x WHERE x.txid = i.txid AND x.index = i.index);

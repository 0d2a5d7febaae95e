-- The owner of every output (--index-addresses, docs/adr/0013-address-index.md): empty where the option is off.

-- Append-only, one row an output that can be spent. Thousands of millions of them: the columns stand so that nothing is
-- lost to alignment, there is no key beside the outpoint, and what only readers need is indexed where it is unspent.
CREATE TABLE chain.outputs (
  value bigint NOT NULL,
  height integer NOT NULL,
  -- height at which it was spent; going back empties it again
  spent_height integer,
  vout integer NOT NULL,
  txid bytea NOT NULL,
  script bytea NOT NULL
);
-- a fifth of so many rows would be hundreds of millions of dead ones before they are cleared away
ALTER TABLE chain.outputs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
-- From an input to what it spends. Here and not among the secondary ones: the second block needs it already.
CREATE INDEX outputs_outpoint ON chain.outputs (hashbyteaextended(txid, vout)) WHERE spent_height IS NULL;

-- Whether chain.outputs is filled: fixed with the first block. Null: no block was ever applied by a version that asks.
ALTER TABLE chain.state ADD COLUMN address_index boolean;

-- inscriptions_content_key takes its place: the first inscription of a content without reading all the others
DROP INDEX IF EXISTS chain.inscriptions_content;

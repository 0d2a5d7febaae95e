-- The owner of every output (--index-addresses, docs/adr/0013-address-index.md): empty where the option is off.

-- Hashes of bytes, for indexes that hold 4 or 8 bytes in place of long keys. PostgreSQL has them by a name of their own from 18 on;
-- older ones hash a list of one. Not STRICT, so that the planner puts the body in their place.
DO $hashes$
BEGIN
  IF to_regprocedure('pg_catalog.hashbyteaextended(bytea, bigint)') IS NULL THEN
    CREATE OR REPLACE FUNCTION chain.hash32(bytes bytea) RETURNS integer
      LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hash_array(ARRAY[bytes]);
    CREATE OR REPLACE FUNCTION chain.hash64(bytes bytea, seed bigint) RETURNS bigint
      LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hash_array_extended(ARRAY[bytes], seed);
  ELSE
    CREATE OR REPLACE FUNCTION chain.hash32(bytes bytea) RETURNS integer
      LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashbytea(bytes);
    CREATE OR REPLACE FUNCTION chain.hash64(bytes bytea, seed bigint) RETURNS bigint
      LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN hashbyteaextended(bytes, seed);
  END IF;
END
$hashes$;

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
CREATE INDEX outputs_outpoint ON chain.outputs (chain.hash64(txid, vout)) WHERE spent_height IS NULL;

-- Whether chain.outputs is filled: fixed with the first block. Null: no block was ever applied by a version that asks.
ALTER TABLE chain.state ADD COLUMN address_index boolean;

-- inscriptions_content_key takes its place: the first inscription of a content without reading all the others
DROP INDEX IF EXISTS chain.inscriptions_content;

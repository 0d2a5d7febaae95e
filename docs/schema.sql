-- Made by `npm run schema:dump` from the catalog: all migrations, and the secondary indexes of
-- indexer/apply/secondary-indexes.ts. docs/schema.md says what each table is for.

CREATE SCHEMA chain;

CREATE OR REPLACE FUNCTION chain.hash32(bytes bytea)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashbytea(bytes)
;

CREATE OR REPLACE FUNCTION chain.hash64(bytes bytea, seed bigint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashbyteaextended(bytes, seed)
;

CREATE OR REPLACE FUNCTION chain.id_hashes(ids bytea)
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE COST 10000
RETURN ARRAY(SELECT chain.hash32(SUBSTRING(id_hashes.ids FROM at.at FOR 36)) AS hash32 FROM generate_series(1, length(id_hashes.ids), 36) at(at))
;

CREATE AGGREGATE chain.total(numeric) (SFUNC = numeric_add, STYPE = numeric);

CREATE TABLE chain.blocks (
  height integer NOT NULL,
  hash bytea NOT NULL,
  header bytea NOT NULL,
  "time" bigint NOT NULL,
  parsed_at timestamp with time zone NOT NULL,
  size_bytes integer NOT NULL,
  tx_count integer NOT NULL,
  island_height integer NOT NULL,
  anchored boolean NOT NULL,
  has_spent boolean NOT NULL,
  first_key integer NOT NULL,
  next_key integer NOT NULL,
  next_content_id integer NOT NULL,
  next_metadata_id integer NOT NULL,
  sequence bigint,
  blessed bigint,
  cursed bigint,
  unbound bigint,
  lost_sats bigint,
  CONSTRAINT blocks_pkey PRIMARY KEY (height),
  CONSTRAINT blocks_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT blocks_header_check CHECK ((length(header) = 80))
);
CREATE INDEX blocks_hash ON chain.blocks USING btree (hash);

CREATE TABLE chain.child_marks (
  parent_key integer NOT NULL,
  nth integer NOT NULL,
  child_key integer NOT NULL,
  CONSTRAINT child_marks_pkey PRIMARY KEY (parent_key, nth)
);

CREATE TABLE chain.contents (
  content_id integer NOT NULL,
  sha256 bytea NOT NULL,
  variant smallint NOT NULL,
  text smallint NOT NULL,
  body bytea NOT NULL,
  folded bytea,
  decoded_sha256 bytea,
  decoded_length integer,
  first_key integer,
  CONSTRAINT contents_pkey PRIMARY KEY (content_id),
  CONSTRAINT contents_check CHECK (((text = 2) = (folded IS NOT NULL)))
);
ALTER TABLE chain.contents ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE chain.contents ALTER COLUMN folded SET STORAGE EXTERNAL;
CREATE INDEX contents_decoded ON chain.contents USING btree (decoded_sha256) WHERE (decoded_sha256 IS NOT NULL);
CREATE UNIQUE INDEX contents_sha256 ON chain.contents USING btree (sha256, variant);

CREATE TABLE chain.derived_tables (
  name text NOT NULL,
  from_height integer NOT NULL,
  is_followed boolean NOT NULL,
  tip_height integer,
  tip_hash bytea,
  problem_code text,
  problem_message text,
  problem_since timestamp with time zone,
  rules smallint NOT NULL DEFAULT 1,
  is_remade boolean NOT NULL DEFAULT false,
  is_wanted boolean NOT NULL DEFAULT true,
  CONSTRAINT derived_tables_pkey PRIMARY KEY (name),
  CONSTRAINT derived_tables_check CHECK (((tip_height IS NULL) = (tip_hash IS NULL))),
  CONSTRAINT derived_tables_check2 CHECK ((((problem_code IS NULL) = (problem_message IS NULL)) AND ((problem_code IS NULL) = (problem_since IS NULL)))),
  CONSTRAINT derived_tables_tip_check CHECK (((tip_height IS NULL) OR (NOT is_followed) OR is_remade)),
  CONSTRAINT derived_tables_wanted_check CHECK ((is_wanted OR (NOT is_followed)))
);

CREATE TABLE chain.event_hashes (
  kind smallint NOT NULL,
  height integer NOT NULL,
  version smallint NOT NULL,
  sha256 bytea NOT NULL,
  cumulative_sha256 bytea NOT NULL,
  CONSTRAINT event_hashes_pkey PRIMARY KEY (kind, height),
  CONSTRAINT event_hashes_cumulative_sha256_check CHECK ((length(cumulative_sha256) = 32)),
  CONSTRAINT event_hashes_sha256_check CHECK ((length(sha256) = 32))
);

CREATE UNLOGGED TABLE chain.follower_status (
  one boolean NOT NULL DEFAULT true,
  state text NOT NULL,
  source text NOT NULL,
  source_height integer,
  source_hash bytea,
  problem_code text,
  problem_message text,
  problem_since timestamp with time zone,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT follower_status_pkey PRIMARY KEY (one),
  CONSTRAINT follower_status_one_check CHECK (one)
);

CREATE TABLE chain.gallery_attributes (
  key integer NOT NULL,
  "position" integer NOT NULL,
  attributes bytea NOT NULL,
  CONSTRAINT gallery_attributes_pkey PRIMARY KEY (key, "position")
);
ALTER TABLE chain.gallery_attributes ALTER COLUMN attributes SET STORAGE EXTERNAL;

CREATE TABLE chain.gallery_pages (
  key integer NOT NULL,
  page integer NOT NULL,
  ids bytea NOT NULL,
  CONSTRAINT gallery_pages_pkey PRIMARY KEY (key, page)
);
ALTER TABLE chain.gallery_pages ALTER COLUMN ids SET STORAGE MAIN;
CREATE INDEX gallery_pages_ids ON chain.gallery_pages USING gin (chain.id_hashes(ids));

CREATE TABLE chain.inscription_details (
  key integer NOT NULL,
  content_encoding bytea,
  metaprotocol bytea,
  pointer bytea,
  delegate bytea,
  claimed_parents bytea,
  metadata bytea,
  properties bytea,
  property_encoding bytea,
  properties_json text,
  rune bytea,
  note bytea,
  unknown_fields bytea,
  CONSTRAINT inscription_details_pkey PRIMARY KEY (key),
  CONSTRAINT inscription_details_delegate_check CHECK ((length(delegate) = 36))
);
CREATE INDEX details_delegate ON chain.inscription_details USING btree (chain.hash32(delegate), key) WHERE (delegate IS NOT NULL);
CREATE INDEX details_metaprotocol ON chain.inscription_details USING btree (chain.hash32(metaprotocol), key) WHERE (metaprotocol IS NOT NULL);
CREATE INDEX details_properties ON chain.inscription_details USING btree (key) WHERE (properties_json IS NOT NULL);

CREATE TABLE chain.inscriptions (
  key integer NOT NULL,
  index integer NOT NULL,
  fee bigint,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  input integer NOT NULL,
  content_id integer,
  number integer,
  metadata_id integer,
  curse smallint,
  charms smallint,
  flags smallint NOT NULL,
  txid bytea NOT NULL,
  content_type bytea,
  CONSTRAINT inscriptions_pkey PRIMARY KEY (key)
);
CREATE INDEX inscriptions_class ON chain.inscriptions USING btree (chain.hash32(SUBSTRING(content_type FROM 1 FOR POSITION(('\x2f'::bytea) IN (content_type)))), key) WHERE (SUBSTRING(content_type FROM 1 FOR POSITION(('\x2f'::bytea) IN (content_type))) <> '\x746578742f'::bytea);
CREATE INDEX inscriptions_content ON chain.inscriptions USING btree (content_id);
CREATE INDEX inscriptions_curse ON chain.inscriptions USING btree (COALESCE((number < 0), (curse <> 0)), key) WHERE COALESCE((number < 0), (curse <> 0));
CREATE UNIQUE INDEX inscriptions_id ON chain.inscriptions USING btree (txid, index);
CREATE INDEX inscriptions_metadata ON chain.inscriptions USING btree (metadata_id) WHERE (metadata_id IS NOT NULL);
CREATE INDEX inscriptions_number ON chain.inscriptions USING btree (number) WHERE (number IS NOT NULL);
CREATE INDEX inscriptions_type ON chain.inscriptions USING btree (chain.hash32(content_type), key) WHERE (content_type <> ALL (ARRAY['\x746578742f706c61696e3b636861727365743d7574662d38'::bytea, '\x746578742f706c61696e'::bytea]));

CREATE TABLE chain.locations (
  key integer NOT NULL,
  height integer NOT NULL,
  sat_offset bigint NOT NULL,
  value bigint,
  outpoint_fingerprint bigint,
  step integer NOT NULL,
  vout integer,
  spent_height integer,
  place smallint NOT NULL,
  txid bytea,
  script bytea,
  CONSTRAINT locations_pkey PRIMARY KEY (key, height, step)
);
ALTER TABLE chain.locations SET (fillfactor=98);
CREATE INDEX locations_outpoint ON chain.locations USING btree (outpoint_fingerprint) WHERE (spent_height IS NULL);
CREATE INDEX locations_outside ON chain.locations USING btree (place, key) WHERE (place <> 0);
CREATE INDEX locations_owner ON chain.locations USING btree (chain.hash32(script), key) WHERE ((spent_height IS NULL) AND (script IS NOT NULL));
CREATE INDEX locations_spent ON chain.locations USING btree (spent_height) WHERE (spent_height IS NOT NULL);

CREATE TABLE chain.lost_sats (
  height integer NOT NULL,
  lost_sats bigint NOT NULL,
  replaced_sats bigint NOT NULL,
  ranges bytea NOT NULL,
  CONSTRAINT lost_sats_pkey PRIMARY KEY (height)
);
ALTER TABLE chain.lost_sats ALTER COLUMN ranges SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE chain.mempool_departures (
  "position" bigint NOT NULL,
  txid bytea NOT NULL,
  reason text NOT NULL,
  replaced_by bytea,
  left_at timestamp with time zone NOT NULL,
  CONSTRAINT mempool_departures_pkey PRIMARY KEY ("position")
);
CREATE INDEX mempool_departures_txid ON chain.mempool_departures USING btree (txid);

CREATE UNLOGGED TABLE chain.mempool_etchings (
  "position" bigint NOT NULL,
  spacers integer NOT NULL,
  symbol integer,
  mature_height integer,
  divisibility smallint NOT NULL,
  state text NOT NULL,
  rune numeric(39,0),
  premine numeric(39,0) NOT NULL,
  CONSTRAINT mempool_etchings_pkey PRIMARY KEY ("position")
);
CREATE INDEX mempool_etchings_rune ON chain.mempool_etchings USING btree (rune);

CREATE UNLOGGED TABLE chain.mempool_inscriptions (
  "position" bigint NOT NULL,
  index integer NOT NULL,
  txid bytea NOT NULL,
  input integer NOT NULL,
  content_type bytea,
  sha256 bytea,
  variant smallint,
  text smallint,
  body bytea,
  folded bytea,
  decoded_sha256 bytea,
  decoded_length integer,
  metadata_json bytea,
  metadata_folded bytea,
  content_encoding bytea,
  metaprotocol bytea,
  delegate bytea,
  claimed_parents bytea,
  place smallint NOT NULL,
  vout integer,
  sat_offset bigint,
  value bigint,
  script bytea,
  title bytea,
  traits bytea,
  gallery bytea,
  CONSTRAINT mempool_inscriptions_pkey PRIMARY KEY ("position", index),
  CONSTRAINT mempool_inscriptions_delegate_check CHECK ((length(delegate) = 36)),
  CONSTRAINT mempool_inscriptions_txid_index_key UNIQUE (txid, index)
);
ALTER TABLE chain.mempool_inscriptions ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE chain.mempool_inscriptions ALTER COLUMN folded SET STORAGE EXTERNAL;
CREATE INDEX mempool_inscriptions_decoded ON chain.mempool_inscriptions USING btree (decoded_sha256);
CREATE INDEX mempool_inscriptions_sha256 ON chain.mempool_inscriptions USING btree (sha256);

CREATE UNLOGGED TABLE chain.mempool_runes (
  "position" bigint NOT NULL,
  vout integer NOT NULL,
  step smallint NOT NULL,
  from_height integer,
  from_tx_index integer,
  rune_key integer,
  amount numeric(39,0) NOT NULL,
  etched_by bytea,
  from_txid bytea,
  script bytea,
  CONSTRAINT mempool_runes_check CHECK (((rune_key IS NULL) <> (etched_by IS NULL))),
  CONSTRAINT mempool_runes_check1 CHECK (((step = 3) = (from_txid IS NOT NULL))),
  CONSTRAINT mempool_runes_check2 CHECK (((step = ANY (ARRAY[1, 3])) = (script IS NOT NULL))),
  CONSTRAINT mempool_runes_etched_by_check CHECK ((length(etched_by) = 32)),
  CONSTRAINT mempool_runes_from_txid_check CHECK ((length(from_txid) = 32))
);
CREATE INDEX mempool_runes_position ON chain.mempool_runes USING btree ("position");
CREATE INDEX mempool_runes_rune ON chain.mempool_runes USING btree (rune_key, "position");
CREATE INDEX mempool_runes_script ON chain.mempool_runes USING btree (chain.hash32(script)) WHERE (script IS NOT NULL);

CREATE UNLOGGED TABLE chain.mempool_sales (
  "position" bigint NOT NULL,
  gross_payout bigint NOT NULL,
  price bigint NOT NULL,
  input integer NOT NULL,
  place integer NOT NULL,
  inscription_index integer NOT NULL,
  bundle integer NOT NULL,
  payout_output integer NOT NULL,
  fee_output integer,
  rules smallint NOT NULL,
  class smallint NOT NULL,
  form smallint NOT NULL,
  confidence smallint NOT NULL,
  sighash smallint NOT NULL,
  wash boolean NOT NULL,
  inscription_txid bytea NOT NULL,
  maker bytea NOT NULL,
  taker bytea,
  CONSTRAINT mempool_sales_pkey PRIMARY KEY ("position", input, place),
  CONSTRAINT mempool_sales_check CHECK ((bundle > place)),
  CONSTRAINT mempool_sales_gross_payout_check CHECK ((gross_payout >= 0)),
  CONSTRAINT mempool_sales_inscription_txid_check CHECK ((length(inscription_txid) = 32)),
  CONSTRAINT mempool_sales_price_check CHECK ((price >= 0))
);

CREATE UNLOGGED TABLE chain.mempool_state (
  one boolean NOT NULL DEFAULT true,
  revision bigint NOT NULL,
  state text NOT NULL,
  source text NOT NULL,
  transactions integer NOT NULL,
  kept integer NOT NULL,
  left_out integer NOT NULL,
  kept_bytes bigint NOT NULL,
  problem text,
  since timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  reveals text NOT NULL DEFAULT 'untested'::text,
  CONSTRAINT mempool_state_pkey PRIMARY KEY (one),
  CONSTRAINT mempool_state_one_check CHECK (one)
);

CREATE UNLOGGED TABLE chain.mempool_transactions (
  txid bytea NOT NULL,
  "position" bigint NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  fee bigint,
  vsize integer NOT NULL,
  replaces bytea NOT NULL,
  block_height integer,
  block_hash bytea,
  CONSTRAINT mempool_transactions_pkey PRIMARY KEY (txid),
  CONSTRAINT mempool_transactions_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT mempool_transactions_check CHECK (((block_height IS NULL) = (block_hash IS NULL))),
  CONSTRAINT mempool_transactions_position_key UNIQUE ("position"),
  CONSTRAINT mempool_transactions_txid_check CHECK ((length(txid) = 32))
);

CREATE UNLOGGED TABLE chain.mempool_transfers (
  "position" bigint NOT NULL,
  inscription_txid bytea NOT NULL,
  inscription_index integer NOT NULL,
  txid bytea NOT NULL,
  from_txid bytea NOT NULL,
  from_vout integer NOT NULL,
  from_offset bigint NOT NULL,
  from_script bytea,
  place smallint NOT NULL,
  vout integer,
  sat_offset bigint,
  value bigint,
  script bytea,
  CONSTRAINT mempool_transfers_pkey PRIMARY KEY ("position", inscription_txid, inscription_index)
);
CREATE INDEX mempool_transfers_inscription ON chain.mempool_transfers USING btree (inscription_txid, inscription_index);

CREATE TABLE chain.metadata_texts (
  metadata_id integer NOT NULL,
  sha256 bytea NOT NULL,
  "json" bytea NOT NULL,
  folded bytea,
  CONSTRAINT metadata_texts_pkey PRIMARY KEY (metadata_id)
);
CREATE UNIQUE INDEX metadata_texts_sha256 ON chain.metadata_texts USING btree (sha256);

CREATE TABLE chain.outbox (
  sequence bigint NOT NULL,
  height integer NOT NULL,
  block_hash bytea NOT NULL,
  cancels bigint,
  event_count integer NOT NULL,
  events bytea,
  written_at timestamp with time zone NOT NULL DEFAULT now(),
  reclassified smallint,
  CONSTRAINT outbox_pkey PRIMARY KEY (sequence),
  CONSTRAINT outbox_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT outbox_cancels_key UNIQUE (cancels),
  CONSTRAINT outbox_check CHECK ((cancels < sequence)),
  CONSTRAINT outbox_reclassified_check CHECK (((reclassified IS NULL) OR ((reclassified > 0) AND (cancels IS NULL))))
);
ALTER TABLE chain.outbox ALTER COLUMN events SET STORAGE EXTERNAL;
CREATE INDEX outbox_height ON chain.outbox USING btree (height);
CREATE INDEX outbox_kept ON chain.outbox USING btree (height) WHERE (events IS NOT NULL);

CREATE TABLE chain.outbox_texts (
  sequence bigint NOT NULL,
  kind smallint NOT NULL,
  height integer NOT NULL,
  event_count integer NOT NULL,
  events bytea,
  CONSTRAINT outbox_texts_pkey PRIMARY KEY (kind, sequence),
  CONSTRAINT outbox_texts_kind_check CHECK ((kind > 0))
);
ALTER TABLE chain.outbox_texts ALTER COLUMN events SET STORAGE EXTERNAL;
CREATE INDEX outbox_texts_kept ON chain.outbox_texts USING btree (height) WHERE (events IS NOT NULL);

CREATE TABLE chain.outputs (
  value bigint NOT NULL,
  height integer NOT NULL,
  spent_height integer,
  vout integer NOT NULL,
  txid bytea NOT NULL,
  script bytea NOT NULL
);
ALTER TABLE chain.outputs SET (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05);
CREATE INDEX outputs_height ON chain.outputs USING btree (height);
CREATE INDEX outputs_outpoint ON chain.outputs USING btree (chain.hash64(txid, (vout)::bigint)) WHERE (spent_height IS NULL);
CREATE INDEX outputs_script ON chain.outputs USING btree (chain.hash64(script, (0)::bigint), height) WHERE (spent_height IS NULL);
CREATE INDEX outputs_spent ON chain.outputs USING btree (spent_height) WHERE (spent_height IS NOT NULL);

CREATE TABLE chain.parent_children (
  parent_key integer NOT NULL,
  newest_child integer NOT NULL,
  children integer NOT NULL,
  CONSTRAINT parent_children_pkey PRIMARY KEY (parent_key),
  CONSTRAINT parent_children_children_check CHECK ((children > 0))
);

CREATE TABLE chain.parents (
  child_key integer NOT NULL,
  "position" integer NOT NULL,
  parent_key integer NOT NULL,
  height integer NOT NULL,
  CONSTRAINT parents_pkey PRIMARY KEY (child_key, "position")
);
CREATE INDEX parents_parent ON chain.parents USING btree (parent_key, child_key);

CREATE TABLE chain.properties (
  key integer NOT NULL,
  items integer NOT NULL,
  json_bytes integer NOT NULL,
  title bytea,
  traits bytea,
  attributes bytea NOT NULL,
  CONSTRAINT properties_pkey PRIMARY KEY (key)
);
ALTER TABLE chain.properties ALTER COLUMN attributes SET STORAGE EXTERNAL;
CREATE INDEX properties_gallery ON chain.properties USING btree (key) WHERE (items > 0);

CREATE TABLE chain.provenance (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  height integer NOT NULL,
  block_hash bytea,
  ranges bytea,
  problem text,
  traced_at timestamp with time zone NOT NULL,
  CONSTRAINT provenance_pkey PRIMARY KEY (txid, vout, height),
  CONSTRAINT provenance_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT provenance_check CHECK ((((ranges IS NULL) = (block_hash IS NULL)) AND ((ranges IS NULL) = (problem IS NOT NULL)))),
  CONSTRAINT provenance_ranges_check CHECK (((length(ranges) % 11) = 0)),
  CONSTRAINT provenance_txid_check CHECK ((length(txid) = 32))
);

CREATE TABLE chain.rare_sats (
  sat bigint NOT NULL,
  sat_offset bigint NOT NULL,
  height integer NOT NULL,
  vout integer NOT NULL,
  txid bytea,
  CONSTRAINT rare_sats_pkey PRIMARY KEY (sat, height)
);
CREATE INDEX rare_sats_height ON chain.rare_sats USING btree (height);

CREATE TABLE chain.recent_sats (
  height integer NOT NULL,
  written_below integer NOT NULL,
  made bytea NOT NULL,
  spent bytea NOT NULL,
  CONSTRAINT recent_sats_pkey PRIMARY KEY (height)
);
ALTER TABLE chain.recent_sats ALTER COLUMN made SET STORAGE EXTERNAL;
ALTER TABLE chain.recent_sats ALTER COLUMN spent SET STORAGE EXTERNAL;

CREATE TABLE chain.rune_balances (
  height integer NOT NULL,
  spent_height integer,
  spent_tx_index integer,
  tx_index integer NOT NULL,
  vout integer NOT NULL,
  rune_key integer NOT NULL,
  amount numeric(39,0) NOT NULL,
  txid bytea NOT NULL,
  script bytea NOT NULL,
  CONSTRAINT rune_balances_pkey PRIMARY KEY (height, tx_index, vout, rune_key)
);
ALTER TABLE chain.rune_balances SET (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02, fillfactor=90);
CREATE INDEX rune_balances_holder ON chain.rune_balances USING btree (rune_key, script, amount, height) WHERE (spent_height IS NULL);
CREATE INDEX rune_balances_outpoint ON chain.rune_balances USING btree (chain.hash64(txid, (vout)::bigint)) WHERE (spent_height IS NULL);
CREATE INDEX rune_balances_rune ON chain.rune_balances USING btree (rune_key, height);
CREATE INDEX rune_balances_script ON chain.rune_balances USING btree (chain.hash32(script), height, spent_height);
CREATE INDEX rune_balances_sent ON chain.rune_balances USING btree (chain.hash32(script), spent_height) WHERE (spent_height IS NOT NULL);
CREATE INDEX rune_balances_spends ON chain.rune_balances USING btree (spent_height, rune_key) WHERE (spent_height IS NOT NULL);

CREATE TABLE chain.rune_blocks (
  height integer NOT NULL,
  anchored boolean NOT NULL,
  next_key integer NOT NULL,
  CONSTRAINT rune_blocks_pkey PRIMARY KEY (height)
);

CREATE TABLE chain.rune_burns (
  rune_key integer NOT NULL,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  amount numeric(39,0) NOT NULL,
  total numeric(39,0) NOT NULL,
  txid bytea NOT NULL,
  CONSTRAINT rune_burns_pkey PRIMARY KEY (rune_key, height, tx_index)
);
CREATE INDEX rune_burns_height ON chain.rune_burns USING btree (height, tx_index);
CREATE INDEX rune_burns_txid ON chain.rune_burns USING btree (chain.hash32(txid));

CREATE TABLE chain.rune_mints (
  height integer NOT NULL,
  rune_key integer NOT NULL,
  mints integer NOT NULL,
  tx_indexes integer[] NOT NULL,
  txids bytea,
  CONSTRAINT rune_mints_pkey PRIMARY KEY (height, rune_key)
);
CREATE INDEX rune_mints_rune ON chain.rune_mints USING btree (rune_key, height);

CREATE TABLE chain.runes (
  key integer NOT NULL,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  spacers integer NOT NULL,
  symbol integer,
  divisibility smallint NOT NULL,
  turbo boolean NOT NULL,
  has_terms boolean NOT NULL,
  "timestamp" bigint NOT NULL,
  rune numeric(39,0) NOT NULL,
  premine numeric(39,0) NOT NULL,
  amount numeric(39,0),
  cap numeric(39,0),
  height_start numeric(20,0),
  height_end numeric(20,0),
  offset_start numeric(20,0),
  offset_end numeric(20,0),
  txid bytea NOT NULL,
  CONSTRAINT runes_pkey PRIMARY KEY (key)
);
CREATE INDEX runes_etching ON chain.runes USING btree (txid);
CREATE UNIQUE INDEX runes_id ON chain.runes USING btree (height, tx_index);
CREATE UNIQUE INDEX runes_rune ON chain.runes USING btree (rune);

CREATE TABLE chain.sales (
  gross_payout bigint NOT NULL,
  price bigint NOT NULL,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  input integer NOT NULL,
  place integer NOT NULL,
  key integer NOT NULL,
  bundle integer NOT NULL,
  payout_output integer NOT NULL,
  fee_output integer,
  rules smallint NOT NULL,
  class smallint NOT NULL,
  form smallint NOT NULL,
  confidence smallint NOT NULL,
  sighash smallint NOT NULL,
  wash boolean NOT NULL,
  txid bytea NOT NULL,
  maker bytea NOT NULL,
  taker bytea,
  CONSTRAINT sales_pkey PRIMARY KEY (height, tx_index, input, place),
  CONSTRAINT sales_check CHECK ((bundle > place)),
  CONSTRAINT sales_gross_payout_check CHECK ((gross_payout >= 0)),
  CONSTRAINT sales_price_check CHECK ((price >= 0)),
  CONSTRAINT sales_txid_check CHECK ((length(txid) = 32))
);
CREATE INDEX sales_key ON chain.sales USING btree (key, height, tx_index);
CREATE INDEX sales_maker ON chain.sales USING btree (chain.hash32(maker), height);
CREATE INDEX sales_taker ON chain.sales USING btree (chain.hash32(taker), height) WHERE (taker IS NOT NULL);
CREATE INDEX sales_txid ON chain.sales USING btree (chain.hash32(txid));

CREATE TABLE chain.sat_ranges (
  height integer NOT NULL,
  vout integer NOT NULL,
  txid bytea NOT NULL,
  ranges bytea NOT NULL
);
ALTER TABLE chain.sat_ranges ALTER COLUMN ranges SET STORAGE EXTERNAL;
ALTER TABLE chain.sat_ranges SET (autovacuum_vacuum_scale_factor=0.02, autovacuum_analyze_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX sat_ranges_height ON chain.sat_ranges USING btree (height);
CREATE INDEX sat_ranges_outpoint ON chain.sat_ranges USING btree (chain.hash64(txid, (vout)::bigint));

CREATE TABLE chain.sats (
  sat bigint NOT NULL,
  key integer NOT NULL,
  CONSTRAINT sats_pkey PRIMARY KEY (key)
);
CREATE INDEX sats_sat ON chain.sats USING btree (sat, key);

CREATE TABLE chain.search_columns (
  segment_id integer NOT NULL,
  content_ids bytea NOT NULL,
  metadata_keys bytea NOT NULL,
  metadata_ids bytea NOT NULL,
  type_names bytea NOT NULL,
  type_codes bytea NOT NULL,
  cursed_keys bytea NOT NULL,
  unknown_keys bytea NOT NULL,
  CONSTRAINT search_columns_pkey PRIMARY KEY (segment_id)
);
ALTER TABLE chain.search_columns ALTER COLUMN content_ids SET STORAGE EXTERNAL;
ALTER TABLE chain.search_columns ALTER COLUMN metadata_keys SET STORAGE EXTERNAL;
ALTER TABLE chain.search_columns ALTER COLUMN metadata_ids SET STORAGE EXTERNAL;

CREATE TABLE chain.search_lengths (
  segment_id integer NOT NULL,
  lengths bytea NOT NULL,
  CONSTRAINT search_lengths_pkey PRIMARY KEY (segment_id)
);

CREATE TABLE chain.search_postings (
  first_gram bigint NOT NULL,
  segment_id integer NOT NULL,
  block bytea NOT NULL,
  CONSTRAINT search_postings_pkey PRIMARY KEY (segment_id, first_gram)
);
ALTER TABLE chain.search_postings ALTER COLUMN block SET STORAGE EXTERNAL;
ALTER TABLE chain.search_postings SET (toast_tuple_target=8160);

CREATE TABLE chain.search_segments (
  segment_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  kind smallint NOT NULL,
  first_id integer NOT NULL,
  next_id integer NOT NULL,
  text_bytes integer NOT NULL,
  CONSTRAINT search_segments_pkey PRIMARY KEY (segment_id),
  CONSTRAINT search_segments_check CHECK ((next_id > first_id)),
  CONSTRAINT search_segments_kind_check CHECK (((kind >= 0) AND (kind <= 3))),
  CONSTRAINT search_segments_kind_first_id_key UNIQUE (kind, first_id)
);

CREATE TABLE chain.spent_sats (
  height integer NOT NULL,
  outputs bytea NOT NULL,
  CONSTRAINT spent_sats_pkey PRIMARY KEY (height)
);
ALTER TABLE chain.spent_sats ALTER COLUMN outputs SET STORAGE EXTERNAL;

CREATE TABLE chain.state (
  one boolean NOT NULL DEFAULT true,
  network text NOT NULL,
  fingerprint_key bytea NOT NULL,
  tip_height integer,
  tip_hash bytea,
  undo_epoch integer NOT NULL DEFAULT 0,
  text_rules smallint NOT NULL,
  cbor_rules smallint NOT NULL,
  derived_epoch integer NOT NULL DEFAULT 0,
  set_up_at timestamp with time zone,
  caught_up_at timestamp with time zone,
  CONSTRAINT state_pkey PRIMARY KEY (one),
  CONSTRAINT state_check CHECK (((tip_height IS NULL) = (tip_hash IS NULL))),
  CONSTRAINT state_fingerprint_key_check CHECK ((length(fingerprint_key) = 32)),
  CONSTRAINT state_one_check CHECK (one),
  CONSTRAINT state_tip_hash_check CHECK ((length(tip_hash) = 32))
);

CREATE VIEW chain.outbox_events AS
 SELECT outbox.sequence,
    0::smallint AS kind,
    outbox.event_count,
    outbox.events
   FROM chain.outbox
  WHERE outbox.cancels IS NULL AND outbox.reclassified IS NULL
UNION ALL
 SELECT outbox_texts.sequence,
    outbox_texts.kind,
    outbox_texts.event_count,
    outbox_texts.events
   FROM chain.outbox_texts;

CREATE VIEW chain.pending_inscriptions AS
 SELECT i."position",
    i.index,
    i.txid,
    i.input,
    i.content_type,
    i.sha256,
    i.variant,
    i.text,
    i.body,
    i.folded,
    i.decoded_sha256,
    i.decoded_length,
    i.metadata_json,
    i.metadata_folded,
    i.content_encoding,
    i.metaprotocol,
    i.delegate,
    i.claimed_parents,
    i.place,
    i.vout,
    i.sat_offset,
    i.value,
    i.script,
    i.title,
    i.traits,
    i.gallery,
    t.first_seen,
    t.fee,
    t.vsize,
    t.replaces,
    t.block_height
   FROM chain.mempool_inscriptions i
     JOIN chain.pending_transactions t USING ("position")
  WHERE NOT (EXISTS ( SELECT
           FROM chain.inscriptions x
          WHERE x.txid = i.txid AND x.index = i.index));

CREATE VIEW chain.pending_rune_transactions AS
 SELECT txid,
    "position",
    first_seen,
    fee,
    vsize,
    replaces,
    block_height,
    block_hash
   FROM chain.pending_transactions t
  WHERE NOT (EXISTS ( SELECT
           FROM chain.mempool_runes m
          WHERE m."position" = t."position" AND m.from_height IS NOT NULL AND NOT (EXISTS ( SELECT
                   FROM chain.rune_balances b
                  WHERE b.height = m.from_height AND b.tx_index = m.from_tx_index AND b.vout = m.vout AND b.rune_key = m.rune_key AND b.txid = m.from_txid AND b.spent_height IS NULL)))) AND NOT (EXISTS ( SELECT
           FROM chain.mempool_runes m
             JOIN chain.rune_balances b ON chain.hash64(b.txid, b.vout::bigint) = chain.hash64(t.txid, m.vout::bigint) AND b.txid = t.txid AND b.vout = m.vout AND b.spent_height IS NULL
          WHERE m."position" = t."position" AND m.step = 1));

CREATE VIEW chain.pending_sales AS
 SELECT s."position",
    s.gross_payout,
    s.price,
    s.input,
    s.place,
    s.inscription_index,
    s.bundle,
    s.payout_output,
    s.fee_output,
    s.rules,
    s.class,
    s.form,
    s.confidence,
    s.sighash,
    s.wash,
    s.inscription_txid,
    s.maker,
    s.taker,
    m.txid,
    m.from_txid,
    m.from_vout,
    m.first_seen,
    m.fee,
    m.vsize,
    m.replaces
   FROM chain.mempool_sales s
     CROSS JOIN LATERAL ( SELECT t.txid,
            t.from_txid,
            t.from_vout,
            t.first_seen,
            t.fee,
            t.vsize,
            t.replaces
           FROM chain.pending_transfers t
          WHERE t."position" = s."position" AND t.inscription_txid = s.inscription_txid AND t.inscription_index = s.inscription_index AND NOT (EXISTS ( SELECT
                   FROM chain.pending_transfers n
                  WHERE n.inscription_txid = t.inscription_txid AND n.inscription_index = t.inscription_index AND n.from_txid = t.from_txid AND n.from_vout = t.from_vout AND n."position" > t."position"))
         OFFSET 0) m;

CREATE VIEW chain.pending_state AS
 SELECT one,
    revision,
    state,
    source,
    transactions,
    kept,
    left_out,
    kept_bytes,
    problem,
    since,
    updated_at
   FROM chain.mempool_state
  WHERE state = 'following'::text AND updated_at > (now() - '00:01:00'::interval);

CREATE VIEW chain.pending_transactions AS
 SELECT txid,
    "position",
    first_seen,
    fee,
    vsize,
    replaces,
    block_height,
    block_hash
   FROM chain.mempool_transactions t
  WHERE (EXISTS ( SELECT
           FROM chain.pending_state)) AND NOT (EXISTS ( SELECT
           FROM chain.blocks b
          WHERE b.height = t.block_height AND b.hash = t.block_hash));

CREATE VIEW chain.pending_transfers AS
 SELECT m."position",
    m.inscription_txid,
    m.inscription_index,
    m.txid,
    m.from_txid,
    m.from_vout,
    m.from_offset,
    m.from_script,
    m.place,
    m.vout,
    m.sat_offset,
    m.value,
    m.script,
    t.first_seen,
    t.fee,
    t.vsize,
    t.replaces,
    t.block_height
   FROM chain.mempool_transfers m
     JOIN chain.pending_transactions t USING ("position")
  WHERE NOT (EXISTS ( SELECT
           FROM chain.inscriptions x
             JOIN chain.locations l USING (key)
          WHERE x.txid = m.inscription_txid AND x.index = m.inscription_index AND l.txid = m.txid));

CREATE SCHEMA service;

CREATE OR REPLACE FUNCTION service.delete_withdrawal_address(of_account text, of_script bytea)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog'
AS $function$
BEGIN
  PERFORM FROM service.accounts WHERE name = of_account FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM service.withdrawal_addresses WHERE account = of_account AND script = of_script) THEN
    RETURN 'unknown';
  END IF;
  IF NOT EXISTS (SELECT FROM service.withdrawal_addresses
                  WHERE account = of_account AND script <> of_script AND counts_at <= now()) THEN
    RETURN 'last';
  END IF;
  DELETE FROM service.withdrawal_addresses WHERE account = of_account AND script = of_script;
  RETURN 'deleted';
END $function$
;

CREATE OR REPLACE FUNCTION service.end_release()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.release_session := NULL;
  NEW.release_table := NULL;
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION service.keep_spent_coins()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- two that spend the same coins take their rows in one order
  PERFORM FROM service.wallet_coins AS c JOIN (SELECT DISTINCT txid, vout FROM changed) AS s USING (txid, vout)
    ORDER BY c.txid, c.vout FOR UPDATE OF c;
  UPDATE service.wallet_coins AS c SET is_spent = s.is_live
    FROM (SELECT txid, vout, EXISTS (SELECT FROM service.wallet_spends AS live
                                      WHERE live.txid = o.txid AND live.vout = o.vout AND live.ended_at IS NULL) AS is_live
            FROM (SELECT DISTINCT txid, vout FROM changed) AS o) AS s
   WHERE c.txid = s.txid AND c.vout = s.vout AND c.is_spent <> s.is_live;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION service.keep_token_balances()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO service.token_balances AS held (account, asset, amount)
  SELECT side.owner, e.asset, sum(side.amount)
    FROM added AS e
    CROSS JOIN LATERAL (VALUES (e.to_account, e.to_owner, e.amount), (e.from_account, e.from_owner, -e.amount))
      AS side (account, owner, amount)
   WHERE side.account = 'token'
   GROUP BY side.owner, e.asset
  -- two postings take their rows in one order
   ORDER BY side.owner, e.asset
  ON CONFLICT (account, asset) DO UPDATE SET amount = held.amount + excluded.amount;
  RETURN NULL;
END $function$
;

CREATE OR REPLACE FUNCTION service.keep_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF (NEW.network, NEW.account_xpub, NEW.master_fingerprint)
     IS DISTINCT FROM (OLD.network, OLD.account_xpub, OLD.master_fingerprint) THEN
    RAISE EXCEPTION 'the keys of a wallet do not change';
  END IF;
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION service.keep_wallet_branch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.next_index < OLD.next_index OR NEW.released_end < OLD.released_end THEN
    RAISE EXCEPTION 'an index of the wallet goes up alone';
  END IF;
  IF (NEW.number, NEW.name, NEW.script_type) IS DISTINCT FROM (OLD.number, OLD.name, OLD.script_type)
     OR NEW.descriptor IS DISTINCT FROM coalesce(OLD.descriptor, NEW.descriptor) THEN
    RAISE EXCEPTION 'a branch of the wallet does not change';
  END IF;
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION service.keys_by_hash(hashes bytea[])
 RETURNS SETOF service.keys
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog'
AS $function$SELECT * FROM service.keys WHERE hash = ANY (hashes) AND revoked_at IS NULL$function$
;

CREATE OR REPLACE FUNCTION service.know_spent_coin()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM FROM service.wallet_spends AS s WHERE s.txid = NEW.txid AND s.vout = NEW.vout AND s.ended_at IS NULL FOR SHARE;
  NEW.is_spent := FOUND;
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION service.list_withdrawal_address(of_account text, of_script bytea, of_address text)
 RETURNS SETOF service.withdrawal_addresses
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog'
AS $function$
DECLARE
  listed integer;
BEGIN
  PERFORM FROM service.accounts WHERE name = of_account FOR NO KEY UPDATE;
  SELECT count(*) INTO listed FROM service.withdrawal_addresses WHERE account = of_account;
  IF listed < 100 THEN
    INSERT INTO service.withdrawal_addresses (account, script, address, counts_at)
    VALUES (of_account, of_script, of_address, now() + CASE listed WHEN 0 THEN interval '0' ELSE interval '24 hours' END)
    ON CONFLICT (account, script) DO NOTHING;
  END IF;
  RETURN QUERY SELECT a.* FROM service.withdrawal_addresses AS a WHERE a.account = of_account AND a.script = of_script;
END $function$
;

CREATE OR REPLACE FUNCTION service.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '% of %.%: its rows are only ever added', tg_op, tg_table_schema, tg_table_name
    USING ERRCODE = 'restrict_violation';
END $function$
;

CREATE OR REPLACE FUNCTION service.refuse_overdrawn()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$
;

CREATE TABLE service.accounts (
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT accounts_pkey PRIMARY KEY (name)
);

CREATE TABLE service.assets (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  etching bytea,
  rune numeric(39,0),
  CONSTRAINT assets_pkey PRIMARY KEY (id),
  CONSTRAINT assets_etching_check CHECK ((length(etching) = 32)),
  CONSTRAINT assets_kind_check CHECK ((((id = 0) = (etching IS NULL)) AND ((etching IS NULL) = (rune IS NULL)))),
  CONSTRAINT assets_rune_check CHECK (((rune >= (0)::numeric) AND (rune <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT assets_rune_key UNIQUE (etching, rune)
);
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON service.assets FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();

CREATE TABLE service.bump_parents (
  bump bytea NOT NULL,
  parent bytea NOT NULL,
  CONSTRAINT bump_parents_pkey PRIMARY KEY (bump, parent),
  CONSTRAINT bump_parents_bump_fkey FOREIGN KEY (bump) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT bump_parents_parent_fkey FOREIGN KEY (parent) REFERENCES service.wallet_transactions(txid)
);
CREATE INDEX bump_parents_parent ON service.bump_parents USING btree (parent);

CREATE TABLE service.bump_shares (
  bump bytea NOT NULL,
  order_id uuid NOT NULL,
  fee bigint NOT NULL,
  CONSTRAINT bump_shares_pkey PRIMARY KEY (bump, order_id),
  CONSTRAINT bump_shares_bump_fkey FOREIGN KEY (bump) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT bump_shares_fee_check CHECK ((fee >= 0)),
  CONSTRAINT bump_shares_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id)
);
CREATE INDEX bump_shares_order ON service.bump_shares USING btree (order_id);

CREATE TABLE service.console_actions (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  session bigint NOT NULL,
  done_at timestamp with time zone NOT NULL DEFAULT now(),
  account text NOT NULL,
  key_prefix text NOT NULL,
  action text NOT NULL,
  target text NOT NULL,
  parameters jsonb NOT NULL,
  result text,
  CONSTRAINT console_actions_pkey PRIMARY KEY (id),
  CONSTRAINT console_actions_action_check CHECK (((length(action) >= 1) AND (length(action) <= 50))),
  CONSTRAINT console_actions_session_fkey FOREIGN KEY (session) REFERENCES service.console_sessions(id),
  CONSTRAINT console_actions_target_check CHECK (((length(target) >= 1) AND (length(target) <= 200)))
);
CREATE INDEX console_actions_target ON service.console_actions USING btree (target, id);

CREATE TABLE service.console_sessions (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  hash bytea NOT NULL,
  key_id integer NOT NULL,
  address text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  used_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  CONSTRAINT console_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT console_sessions_address_check CHECK (((length(address) >= 1) AND (length(address) <= 100))),
  CONSTRAINT console_sessions_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT console_sessions_hash_key UNIQUE (hash),
  CONSTRAINT console_sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES service.keys(id)
);

CREATE TABLE service.etchings (
  reveal bytea NOT NULL,
  commit_txid bytea NOT NULL,
  order_id uuid NOT NULL,
  rune numeric(39,0) NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  released_at timestamp with time zone,
  given_up_at timestamp with time zone,
  fault text,
  CONSTRAINT etchings_pkey PRIMARY KEY (reveal),
  CONSTRAINT etchings_check CHECK ((commit_txid <> reveal)),
  CONSTRAINT etchings_check1 CHECK (((given_up_at IS NULL) = (fault IS NULL))),
  CONSTRAINT etchings_commit_txid_fkey FOREIGN KEY (commit_txid) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT etchings_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT etchings_reveal_fkey FOREIGN KEY (reveal) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT etchings_rune_check CHECK ((rune >= (0)::numeric))
);
CREATE INDEX etchings_commit ON service.etchings USING btree (commit_txid);
CREATE INDEX etchings_order ON service.etchings USING btree (order_id);
CREATE INDEX etchings_waiting ON service.etchings USING btree (rune) WHERE ((released_at IS NULL) AND (given_up_at IS NULL));

CREATE TABLE service.fund_addresses (
  own_index integer NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT fund_addresses_pkey PRIMARY KEY (own_index),
  CONSTRAINT fund_addresses_own_index_check CHECK ((own_index >= 0)),
  CONSTRAINT fund_addresses_script_check CHECK ((length(script) = 34)),
  CONSTRAINT fund_addresses_script_key UNIQUE (script)
);

CREATE TABLE service.idempotency_keys (
  route text NOT NULL,
  key text NOT NULL,
  body_hash bytea NOT NULL,
  claim uuid NOT NULL,
  claimed_at timestamp with time zone NOT NULL DEFAULT now(),
  answer text,
  owner text NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (route, owner, key),
  CONSTRAINT idempotency_keys_body_hash_check CHECK ((length(body_hash) = 32)),
  CONSTRAINT idempotency_keys_key_check CHECK ((key ~ '^[!-~]{1,255}$'::text))
);
CREATE INDEX idempotency_keys_claimed_at ON service.idempotency_keys USING btree (claimed_at);

CREATE TABLE service.instance (
  one boolean NOT NULL DEFAULT true,
  network text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT instance_pkey PRIMARY KEY (one),
  CONSTRAINT instance_one_check CHECK (one)
);

CREATE TABLE service.inventory_outputs (
  txid bytea NOT NULL,
  vout bigint NOT NULL,
  value bigint NOT NULL,
  script bytea NOT NULL,
  height integer NOT NULL,
  block_hash bytea NOT NULL,
  ranges bigint[] NOT NULL,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT inventory_outputs_pkey PRIMARY KEY (txid, vout),
  CONSTRAINT inventory_outputs_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT inventory_outputs_height_check CHECK ((height >= 0)),
  CONSTRAINT inventory_outputs_ranges_check CHECK (((cardinality(ranges) > 0) AND ((cardinality(ranges) % 2) = 0))),
  CONSTRAINT inventory_outputs_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT inventory_outputs_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT inventory_outputs_value_check CHECK ((value > 0)),
  CONSTRAINT inventory_outputs_vout_check CHECK (((vout >= 0) AND (vout <= '4294967295'::bigint)))
);

CREATE TABLE service.key_usage (
  key_id integer NOT NULL,
  day date NOT NULL,
  endpoints text NOT NULL,
  requests bigint NOT NULL,
  refused bigint NOT NULL,
  CONSTRAINT key_usage_pkey PRIMARY KEY (key_id, day, endpoints),
  CONSTRAINT key_usage_key_id_fkey FOREIGN KEY (key_id) REFERENCES service.keys(id)
);

CREATE TABLE service.keys (
  id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  account text NOT NULL,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  burst integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  scopes text[] NOT NULL,
  per_seconds integer NOT NULL,
  base_fee bigint,
  direct_base_fee bigint,
  reserved_max integer,
  base_fee_off bigint,
  base_fee_percent_off numeric(5,2),
  rare_sats_fee_off bigint,
  rare_sats_fee_percent_off numeric(5,2),
  collection_service_fee_off bigint,
  collection_service_fee_percent_off numeric(5,2),
  CONSTRAINT keys_pkey PRIMARY KEY (id),
  CONSTRAINT keys_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT keys_base_fee_check CHECK (((base_fee >= 0) AND (base_fee <= 100000000))),
  CONSTRAINT keys_base_fee_off_check CHECK (((base_fee_off >= 1) AND (base_fee_off <= 100000000))),
  CONSTRAINT keys_base_fee_percent_off_check CHECK (((base_fee_percent_off > (0)::numeric) AND (base_fee_percent_off <= (100)::numeric))),
  CONSTRAINT keys_burst_check CHECK ((burst >= 0)),
  CONSTRAINT keys_collection_service_fee_off_check CHECK (((collection_service_fee_off >= 1) AND (collection_service_fee_off <= 100000000))),
  CONSTRAINT keys_collection_service_fee_percent_off_check CHECK (((collection_service_fee_percent_off > (0)::numeric) AND (collection_service_fee_percent_off <= (100)::numeric))),
  CONSTRAINT keys_direct_base_fee_check CHECK (((direct_base_fee >= 0) AND (direct_base_fee <= 100000000))),
  CONSTRAINT keys_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT keys_hash_key UNIQUE (hash),
  CONSTRAINT keys_one_discount CHECK (((num_nonnulls(base_fee_off, base_fee_percent_off) <= 1) AND (num_nonnulls(rare_sats_fee_off, rare_sats_fee_percent_off) <= 1) AND (num_nonnulls(collection_service_fee_off, collection_service_fee_percent_off) <= 1))),
  CONSTRAINT keys_per_seconds_check CHECK ((per_seconds > 0)),
  CONSTRAINT keys_prefix_key UNIQUE (prefix),
  CONSTRAINT keys_rare_sats_fee_off_check CHECK (((rare_sats_fee_off >= 1) AND (rare_sats_fee_off <= 100000000))),
  CONSTRAINT keys_rare_sats_fee_percent_off_check CHECK (((rare_sats_fee_percent_off > (0)::numeric) AND (rare_sats_fee_percent_off <= (100)::numeric))),
  CONSTRAINT keys_reserved_max_check CHECK (((reserved_max >= 1) AND (reserved_max <= 2000))),
  CONSTRAINT keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['search'::text, 'orders'::text, 'tokenpay'::text, 'tokenpay-withdraw'::text, 'admin'::text])))
);
CREATE INDEX keys_of_account ON service.keys USING btree (account);

CREATE TABLE service.ledger_entries (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT now(),
  subject_id uuid,
  order_id uuid GENERATED ALWAYS AS (
CASE subject_kind
    WHEN 'order'::text THEN subject_id
    ELSE NULL::uuid
END) STORED,
  vout bigint,
  asset integer NOT NULL,
  subject_kind text NOT NULL,
  from_account text NOT NULL,
  from_owner text,
  to_account text NOT NULL,
  to_owner text,
  amount numeric(39,0) NOT NULL,
  txid bytea NOT NULL,
  CONSTRAINT ledger_entries_pkey PRIMARY KEY (id),
  CONSTRAINT ledger_entries_amount_check CHECK (((amount >= (1)::numeric) AND (amount <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT ledger_entries_asset_fkey FOREIGN KEY (asset) REFERENCES service.assets(id),
  CONSTRAINT ledger_entries_from_account_check CHECK ((from_account = ANY (ARRAY['outside'::text, 'owed'::text, 'deposit'::text, 'postage'::text, 'fee'::text, 'service'::text, 'referral'::text, 'creator'::text, 'token'::text, 'operator'::text, 'refund'::text, 'inventory'::text]))),
  CONSTRAINT ledger_entries_from_owner_check CHECK (((from_owner IS NOT NULL) = (from_account = ANY (ARRAY['referral'::text, 'creator'::text, 'token'::text])))),
  CONSTRAINT ledger_entries_funds_check CHECK (((subject_kind <> 'funds'::text) OR ((from_account = ANY (ARRAY['outside'::text, 'operator'::text])) AND (to_account = ANY (ARRAY['outside'::text, 'operator'::text]))))),
  CONSTRAINT ledger_entries_moves_check CHECK (((from_account <> to_account) OR (from_owner IS DISTINCT FROM to_owner))),
  CONSTRAINT ledger_entries_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id),
  CONSTRAINT ledger_entries_payout_check CHECK (((subject_kind <> 'payout'::text) OR ((from_account = ANY (ARRAY['referral'::text, 'creator'::text, 'service'::text, 'operator'::text])) AND (to_account = ANY (ARRAY['outside'::text, 'fee'::text]))) OR ((to_account = ANY (ARRAY['referral'::text, 'creator'::text, 'service'::text, 'operator'::text])) AND (from_account = ANY (ARRAY['outside'::text, 'fee'::text]))))),
  CONSTRAINT ledger_entries_subject_asset_check CHECK (((subject_kind <> ALL (ARRAY['order'::text, 'funds'::text, 'payout'::text])) OR (asset = 0))),
  CONSTRAINT ledger_entries_subject_id_check CHECK (((subject_id IS NULL) = (subject_kind = 'funds'::text))),
  CONSTRAINT ledger_entries_subject_kind_check CHECK ((subject_kind = ANY (ARRAY['order'::text, 'funds'::text, 'payout'::text, 'token-order'::text, 'withdrawal'::text]))),
  CONSTRAINT ledger_entries_to_account_check CHECK ((to_account = ANY (ARRAY['outside'::text, 'owed'::text, 'deposit'::text, 'postage'::text, 'fee'::text, 'service'::text, 'referral'::text, 'creator'::text, 'token'::text, 'operator'::text, 'refund'::text, 'inventory'::text]))),
  CONSTRAINT ledger_entries_to_owner_check CHECK (((to_owner IS NOT NULL) = (to_account = ANY (ARRAY['referral'::text, 'creator'::text, 'token'::text])))),
  CONSTRAINT ledger_entries_token_order_check CHECK (((subject_kind <> 'token-order'::text) OR ((from_account = ANY (ARRAY['outside'::text, 'owed'::text, 'service'::text, 'token'::text])) AND (to_account = ANY (ARRAY['outside'::text, 'owed'::text, 'service'::text, 'token'::text]))))),
  CONSTRAINT ledger_entries_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT ledger_entries_vout_check CHECK (((vout >= 0) AND (vout <= '4294967295'::bigint))),
  CONSTRAINT ledger_entries_withdrawal_check CHECK (((subject_kind <> 'withdrawal'::text) OR ((from_account = ANY (ARRAY['token'::text, 'operator'::text])) AND (to_account = ANY (ARRAY['outside'::text, 'operator'::text, 'fee'::text]))) OR ((to_account = ANY (ARRAY['token'::text, 'operator'::text])) AND (from_account = ANY (ARRAY['outside'::text, 'operator'::text, 'fee'::text])))))
);
CREATE INDEX ledger_entries_at ON service.ledger_entries USING brin (at) WITH (autosummarize='on', pages_per_range='32');
CREATE INDEX ledger_entries_from_owner ON service.ledger_entries USING btree (from_owner, from_account) INCLUDE (amount) WHERE (from_owner IS NOT NULL);
CREATE INDEX ledger_entries_subject ON service.ledger_entries USING btree (subject_id);
CREATE INDEX ledger_entries_to_owner ON service.ledger_entries USING btree (to_owner, to_account) INCLUDE (amount) WHERE (to_owner IS NOT NULL);
CREATE TRIGGER keep_token_balances AFTER INSERT ON service.ledger_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.keep_token_balances();
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON service.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();
CREATE TRIGGER refuse_overdrawn AFTER INSERT ON service.ledger_entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_overdrawn();

CREATE TABLE service.market_collections (
  slug text NOT NULL,
  name text NOT NULL,
  description text,
  icon_txid bytea,
  icon_index integer,
  website text,
  twitter text,
  discord text,
  items integer NOT NULL,
  digest bytea NOT NULL,
  revision bigint NOT NULL DEFAULT nextval('service.market_revisions'::regclass),
  imported_at timestamp with time zone NOT NULL DEFAULT now(),
  list_slug text,
  CONSTRAINT market_collections_pkey PRIMARY KEY (slug),
  CONSTRAINT market_collections_check CHECK (((icon_txid IS NULL) = (icon_index IS NULL))),
  CONSTRAINT market_collections_check1 CHECK ((((length(list_slug) >= 1) AND (length(list_slug) <= 200)) AND (list_slug <> slug))),
  CONSTRAINT market_collections_description_check CHECK ((length(description) <= 5000)),
  CONSTRAINT market_collections_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT market_collections_discord_check CHECK ((length(discord) <= 3000)),
  CONSTRAINT market_collections_icon_index_check CHECK ((icon_index >= 0)),
  CONSTRAINT market_collections_icon_txid_check CHECK ((length(icon_txid) = 32)),
  CONSTRAINT market_collections_items_check CHECK (((items >= 0) AND (items <= 100000))),
  CONSTRAINT market_collections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT market_collections_slug_check CHECK ((slug ~ '^[a-z0-9][a-z0-9_-]{0,99}$'::text)),
  CONSTRAINT market_collections_twitter_check CHECK ((length(twitter) <= 3000)),
  CONSTRAINT market_collections_website_check CHECK ((length(website) <= 3000))
);
CREATE UNIQUE INDEX market_collections_list ON service.market_collections USING btree (COALESCE(list_slug, slug));

CREATE TABLE service.market_items (
  slug text NOT NULL,
  place integer NOT NULL,
  index integer NOT NULL,
  txid bytea NOT NULL,
  name text,
  CONSTRAINT market_items_pkey PRIMARY KEY (slug, place),
  CONSTRAINT market_items_index_check CHECK ((index >= 0)),
  CONSTRAINT market_items_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT market_items_place_check CHECK ((place >= 0)),
  CONSTRAINT market_items_slug_fkey FOREIGN KEY (slug) REFERENCES service.market_collections(slug) ON DELETE CASCADE,
  CONSTRAINT market_items_txid_check CHECK ((length(txid) = 32))
);
CREATE UNIQUE INDEX market_items_id ON service.market_items USING btree (txid, index, slug);

CREATE TABLE service.market_traits (
  slug text NOT NULL,
  name text NOT NULL,
  value text NOT NULL,
  name_rank integer NOT NULL,
  value_rank integer NOT NULL,
  items integer NOT NULL,
  places bytea NOT NULL,
  CONSTRAINT market_traits_pkey PRIMARY KEY (slug, name, value),
  CONSTRAINT market_traits_check CHECK ((length(places) = (4 * items))),
  CONSTRAINT market_traits_items_check CHECK (((items >= 1) AND (items <= 100000))),
  CONSTRAINT market_traits_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  CONSTRAINT market_traits_name_rank_check CHECK ((name_rank >= 0)),
  CONSTRAINT market_traits_slug_fkey FOREIGN KEY (slug) REFERENCES service.market_collections(slug) ON DELETE CASCADE,
  CONSTRAINT market_traits_value_check CHECK (((length(value) >= 1) AND (length(value) <= 100))),
  CONSTRAINT market_traits_value_rank_check CHECK ((value_rank >= 0))
);
CREATE UNIQUE INDEX market_traits_shown ON service.market_traits USING btree (slug, name_rank, value_rank);

CREATE TABLE service.miner_packages (
  reveal bytea NOT NULL,
  commit_txid bytea NOT NULL,
  order_id uuid NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  hours integer NOT NULL,
  mined_until timestamp with time zone NOT NULL,
  ask_at timestamp with time zone DEFAULT now(),
  tries integer NOT NULL DEFAULT 0,
  silence text,
  accepted_at timestamp with time zone,
  refused_at timestamp with time zone,
  refusal text,
  given_up_at timestamp with time zone,
  was_mined boolean NOT NULL DEFAULT false,
  CONSTRAINT miner_packages_pkey PRIMARY KEY (reveal),
  CONSTRAINT miner_packages_check CHECK ((commit_txid <> reveal)),
  CONSTRAINT miner_packages_check1 CHECK (((accepted_at IS NULL) OR (refused_at IS NULL))),
  CONSTRAINT miner_packages_check2 CHECK (((refused_at IS NULL) = (refusal IS NULL))),
  CONSTRAINT miner_packages_check3 CHECK (((ask_at IS NULL) OR ((accepted_at IS NULL) AND (refused_at IS NULL) AND (given_up_at IS NULL)))),
  CONSTRAINT miner_packages_commit_txid_fkey FOREIGN KEY (commit_txid) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT miner_packages_hours_check CHECK ((hours > 0)),
  CONSTRAINT miner_packages_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT miner_packages_reveal_fkey FOREIGN KEY (reveal) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT miner_packages_tries_check CHECK ((tries >= 0))
);
CREATE INDEX miner_packages_commit ON service.miner_packages USING btree (commit_txid);
CREATE INDEX miner_packages_due ON service.miner_packages USING btree (ask_at) WHERE (ask_at IS NOT NULL);
CREATE INDEX miner_packages_order ON service.miner_packages USING btree (order_id);

CREATE TABLE service.mint_allowances (
  collection text NOT NULL,
  phase text NOT NULL,
  script bytea NOT NULL,
  items integer,
  CONSTRAINT mint_allowances_pkey PRIMARY KEY (collection, phase, script),
  CONSTRAINT mint_allowances_collection_phase_fkey FOREIGN KEY (collection, phase) REFERENCES service.mint_phases(collection, phase) ON DELETE CASCADE,
  CONSTRAINT mint_allowances_items_check CHECK (((items >= 0) AND (items <= 100000))),
  CONSTRAINT mint_allowances_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520)))
);

CREATE TABLE service.mint_collections (
  id text NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  name text NOT NULL,
  total_count integer NOT NULL,
  price bigint NOT NULL,
  creator_address text,
  creator_script bytea,
  alt_prices jsonb,
  shown jsonb NOT NULL,
  key_hash bytea,
  client text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  decided_at timestamp with time zone,
  reason text,
  taken integer NOT NULL DEFAULT 0,
  unpaid integer NOT NULL DEFAULT 0,
  CONSTRAINT mint_collections_pkey PRIMARY KEY (id),
  CONSTRAINT mint_collections_check CHECK (((taken >= 0) AND (taken <= total_count))),
  CONSTRAINT mint_collections_check1 CHECK (((unpaid >= 0) AND (unpaid <= taken))),
  CONSTRAINT mint_collections_check2 CHECK (((creator_address IS NULL) = (creator_script IS NULL))),
  CONSTRAINT mint_collections_check3 CHECK (((state = 'pending'::text) = (decided_at IS NULL))),
  CONSTRAINT mint_collections_check4 CHECK (((client IS NULL) OR (state = 'pending'::text))),
  CONSTRAINT mint_collections_check5 CHECK (((taken = 0) OR (state = ANY (ARRAY['approved'::text, 'closed'::text])))),
  CONSTRAINT mint_collections_check6 CHECK (((state <> ALL (ARRAY['approved'::text, 'closed'::text])) OR (creator_script IS NOT NULL) OR (price = 0))),
  CONSTRAINT mint_collections_creator_address_check CHECK ((length(creator_address) <= 200)),
  CONSTRAINT mint_collections_creator_script_check CHECK (((length(creator_script) >= 1) AND (length(creator_script) <= 520))),
  CONSTRAINT mint_collections_id_check CHECK ((id ~ '^[a-z0-9][a-z0-9_-]{0,99}$'::text)),
  CONSTRAINT mint_collections_key_hash_check CHECK ((length(key_hash) = 32)),
  CONSTRAINT mint_collections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT mint_collections_price_check CHECK (((price >= 0) AND (price <= '2100000000000000'::bigint))),
  CONSTRAINT mint_collections_reason_check CHECK ((length(reason) <= 1000)),
  CONSTRAINT mint_collections_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'refused'::text, 'closed'::text]))),
  CONSTRAINT mint_collections_total_count_check CHECK (((total_count >= 1) AND (total_count <= 100000)))
);
CREATE INDEX mint_collections_client ON service.mint_collections USING btree (client) WHERE (client IS NOT NULL);
CREATE INDEX mint_collections_state ON service.mint_collections USING btree (state, created_at);

CREATE TABLE service.mint_files (
  collection text NOT NULL,
  place integer NOT NULL,
  name text NOT NULL,
  url text,
  told_bytes bigint,
  sha256 bytea,
  bytes integer,
  media_type text,
  CONSTRAINT mint_files_pkey PRIMARY KEY (collection, place),
  CONSTRAINT mint_files_bytes_check CHECK ((bytes > 0)),
  CONSTRAINT mint_files_check CHECK ((((sha256 IS NULL) = (bytes IS NULL)) AND ((sha256 IS NULL) = (media_type IS NULL)))),
  CONSTRAINT mint_files_collection_fkey FOREIGN KEY (collection) REFERENCES service.mint_collections(id) ON DELETE CASCADE,
  CONSTRAINT mint_files_media_type_check CHECK ((length(media_type) <= 520)),
  CONSTRAINT mint_files_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
  CONSTRAINT mint_files_place_check CHECK (((place >= 0) AND (place <= 99999))),
  CONSTRAINT mint_files_sha256_check CHECK ((length(sha256) = 32)),
  CONSTRAINT mint_files_told_bytes_check CHECK ((told_bytes >= 0)),
  CONSTRAINT mint_files_url_check CHECK ((length(url) <= 3000))
);
CREATE UNIQUE INDEX mint_files_name ON service.mint_files USING btree (collection, name);
CREATE INDEX mint_files_sha256 ON service.mint_files USING btree (sha256) WHERE (sha256 IS NOT NULL);

CREATE TABLE service.mint_items (
  collection text NOT NULL,
  item integer NOT NULL,
  file integer NOT NULL,
  draw integer NOT NULL,
  order_id uuid,
  order_place integer,
  script_bytes integer NOT NULL,
  CONSTRAINT mint_items_pkey PRIMARY KEY (collection, item),
  CONSTRAINT mint_items_check CHECK (((order_id IS NULL) = (order_place IS NULL))),
  CONSTRAINT mint_items_collection_file_fkey FOREIGN KEY (collection, file) REFERENCES service.mint_files(collection, place),
  CONSTRAINT mint_items_collection_fkey FOREIGN KEY (collection) REFERENCES service.mint_collections(id) ON DELETE CASCADE,
  CONSTRAINT mint_items_item_check CHECK (((item >= 1) AND (item <= 100000))),
  CONSTRAINT mint_items_order_place_check CHECK ((order_place >= 0))
);
CREATE INDEX mint_items_free ON service.mint_items USING btree (collection, draw) WHERE (order_id IS NULL);
CREATE INDEX mint_items_longest ON service.mint_items USING btree (collection, script_bytes DESC, item) WHERE (order_id IS NULL);
CREATE UNIQUE INDEX mint_items_order ON service.mint_items USING btree (order_id, order_place) WHERE (order_id IS NOT NULL);

CREATE TABLE service.mint_orders (
  order_id uuid NOT NULL,
  collection text NOT NULL,
  phase text NOT NULL,
  items integer NOT NULL,
  numbers integer[] NOT NULL,
  is_requested boolean NOT NULL,
  script bytea NOT NULL,
  price bigint NOT NULL,
  creator_address text,
  client text,
  standing text NOT NULL DEFAULT 'making'::text,
  held_until timestamp with time zone,
  reserved_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT mint_orders_pkey PRIMARY KEY (order_id),
  CONSTRAINT mint_orders_check CHECK ((cardinality(numbers) = items)),
  CONSTRAINT mint_orders_check1 CHECK (((price = 0) OR (creator_address IS NOT NULL))),
  CONSTRAINT mint_orders_check2 CHECK (((client IS NOT NULL) = (standing = ANY (ARRAY['making'::text, 'unpaid'::text])))),
  CONSTRAINT mint_orders_check3 CHECK (((held_until IS NOT NULL) = (standing = 'making'::text))),
  CONSTRAINT mint_orders_collection_fkey FOREIGN KEY (collection) REFERENCES service.mint_collections(id),
  CONSTRAINT mint_orders_collection_phase_fkey FOREIGN KEY (collection, phase) REFERENCES service.mint_phases(collection, phase),
  CONSTRAINT mint_orders_items_check CHECK (((items >= 1) AND (items <= 1000))),
  CONSTRAINT mint_orders_price_check CHECK ((price >= 0)),
  CONSTRAINT mint_orders_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT mint_orders_standing_check CHECK ((standing = ANY (ARRAY['making'::text, 'unpaid'::text, 'allowed'::text, 'refused'::text, 'late'::text, 'released'::text])))
);
CREATE INDEX mint_orders_allowance ON service.mint_orders USING btree (collection, phase, script) INCLUDE (items, standing);
CREATE INDEX mint_orders_client ON service.mint_orders USING btree (client) WHERE (client IS NOT NULL);
CREATE INDEX mint_orders_making ON service.mint_orders USING btree (collection, held_until) WHERE (standing = 'making'::text);

CREATE TABLE service.mint_phases (
  collection text NOT NULL,
  phase text NOT NULL,
  place integer NOT NULL,
  items integer,
  is_public boolean NOT NULL,
  price bigint,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  taken integer NOT NULL DEFAULT 0,
  CONSTRAINT mint_phases_pkey PRIMARY KEY (collection, phase),
  CONSTRAINT mint_phases_check CHECK (((taken >= 0) AND (taken <= items))),
  CONSTRAINT mint_phases_check1 CHECK ((starts_at < ends_at)),
  CONSTRAINT mint_phases_collection_fkey FOREIGN KEY (collection) REFERENCES service.mint_collections(id) ON DELETE CASCADE,
  CONSTRAINT mint_phases_items_check CHECK (((items >= 1) AND (items <= 100000))),
  CONSTRAINT mint_phases_phase_check CHECK ((phase ~ '^[A-Za-z0-9_-]{1,64}$'::text)),
  CONSTRAINT mint_phases_place_check CHECK (((place >= 0) AND (place <= 99))),
  CONSTRAINT mint_phases_price_check CHECK (((price >= 0) AND (price <= '2100000000000000'::bigint)))
);
CREATE UNIQUE INDEX mint_phases_place ON service.mint_phases USING btree (collection, place);

CREATE TABLE service.mint_rune_prices (
  collection text NOT NULL,
  account text NOT NULL,
  etching bytea NOT NULL,
  rune numeric(39,0) NOT NULL,
  name text NOT NULL,
  divisibility smallint NOT NULL,
  amount numeric(39,0) NOT NULL,
  CONSTRAINT mint_rune_prices_pkey PRIMARY KEY (collection),
  CONSTRAINT mint_rune_prices_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT mint_rune_prices_amount_check CHECK (((amount >= (1)::numeric) AND (amount <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT mint_rune_prices_collection_fkey FOREIGN KEY (collection) REFERENCES service.mint_collections(id) ON DELETE CASCADE,
  CONSTRAINT mint_rune_prices_divisibility_check CHECK (((divisibility >= 0) AND (divisibility <= 38))),
  CONSTRAINT mint_rune_prices_etching_check CHECK ((length(etching) = 32)),
  CONSTRAINT mint_rune_prices_name_check CHECK (((length(name) >= 1) AND (length(name) <= 80))),
  CONSTRAINT mint_rune_prices_rune_check CHECK ((rune >= (0)::numeric))
);
CREATE INDEX mint_rune_prices_account ON service.mint_rune_prices USING btree (account);

CREATE TABLE service.node_policy (
  one boolean NOT NULL DEFAULT true,
  least_fee_rate bigint NOT NULL,
  estimate bigint,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  mempool_min_fee_rate bigint,
  CONSTRAINT node_policy_pkey PRIMARY KEY (one),
  CONSTRAINT node_policy_estimate_check CHECK ((estimate >= 0)),
  CONSTRAINT node_policy_least_fee_rate_check CHECK ((least_fee_rate >= 0)),
  CONSTRAINT node_policy_mempool_min_fee_rate_check CHECK ((mempool_min_fee_rate >= 0)),
  CONSTRAINT node_policy_one_check CHECK (one)
);

CREATE TABLE service.order_events (
  order_id uuid NOT NULL,
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  event text NOT NULL,
  from_state text NOT NULL,
  to_state text,
  at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT order_events_pkey PRIMARY KEY (order_id, id),
  CONSTRAINT order_events_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE
);

CREATE TABLE service.order_files (
  order_id uuid NOT NULL,
  index integer NOT NULL,
  sha256 bytea,
  media_type text,
  s3_key text,
  shown jsonb NOT NULL,
  CONSTRAINT order_files_pkey PRIMARY KEY (order_id, index),
  CONSTRAINT order_files_index_check CHECK ((index >= 0)),
  CONSTRAINT order_files_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT order_files_s3_key_key UNIQUE (s3_key),
  CONSTRAINT order_files_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX order_files_sha256 ON service.order_files USING btree (sha256) WHERE (sha256 IS NOT NULL);

CREATE TABLE service.order_leaves (
  order_id uuid NOT NULL,
  index integer NOT NULL,
  leaf bytea NOT NULL,
  CONSTRAINT order_leaves_pkey PRIMARY KEY (order_id, index),
  CONSTRAINT order_leaves_index_check CHECK ((index >= 0)),
  CONSTRAINT order_leaves_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE
);
ALTER TABLE service.order_leaves ALTER COLUMN leaf SET STORAGE EXTERNAL;

CREATE TABLE service.order_parents (
  order_id uuid NOT NULL,
  index integer NOT NULL,
  key_index integer NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  CONSTRAINT order_parents_pkey PRIMARY KEY (order_id, index),
  CONSTRAINT order_parents_index_check CHECK ((index >= 0)),
  CONSTRAINT order_parents_key_index_check CHECK ((key_index >= 0)),
  CONSTRAINT order_parents_key_index_key UNIQUE (key_index),
  CONSTRAINT order_parents_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT order_parents_script_check CHECK ((length(script) = 34)),
  CONSTRAINT order_parents_script_key UNIQUE (script)
);

CREATE TABLE service.ordered_mints (
  txid bytea NOT NULL,
  commit_txid bytea NOT NULL,
  order_id uuid NOT NULL,
  place integer NOT NULL,
  rune numeric(39,0) NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  released_at timestamp with time zone,
  given_up_at timestamp with time zone,
  fault text,
  is_executed boolean,
  CONSTRAINT ordered_mints_pkey PRIMARY KEY (txid),
  CONSTRAINT ordered_mints_check CHECK ((commit_txid <> txid)),
  CONSTRAINT ordered_mints_check1 CHECK (((given_up_at IS NULL) = (fault IS NULL))),
  CONSTRAINT ordered_mints_commit_txid_fkey FOREIGN KEY (commit_txid) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT ordered_mints_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT ordered_mints_place_check CHECK ((place >= 0)),
  CONSTRAINT ordered_mints_rune_check CHECK ((rune >= (0)::numeric)),
  CONSTRAINT ordered_mints_txid_fkey FOREIGN KEY (txid) REFERENCES service.wallet_transactions(txid)
);
CREATE INDEX ordered_mints_open ON service.ordered_mints USING btree (rune) WHERE ((is_executed IS NULL) AND (given_up_at IS NULL));
CREATE INDEX ordered_mints_order ON service.ordered_mints USING btree (order_id, place);

CREATE TABLE service.orders (
  id uuid NOT NULL,
  kind text NOT NULL,
  state text NOT NULL,
  step integer NOT NULL DEFAULT 0,
  key_index integer NOT NULL,
  own_index integer NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  paid_to text NOT NULL,
  amount bigint NOT NULL,
  quote jsonb NOT NULL,
  request jsonb NOT NULL,
  terms jsonb NOT NULL,
  webhook_url text,
  refund_script bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  paid_at timestamp with time zone,
  completed_at timestamp with time zone,
  cancel_asked_at timestamp with time zone,
  error text,
  look_at timestamp with time zone,
  referral text,
  stuck text,
  refund_asked_at timestamp with time zone,
  refund_asked_script bytea,
  paid_estimate bigint,
  leaf_hash bytea,
  leaves_deleted_at timestamp with time zone,
  files_deleted_at timestamp with time zone,
  extra_cost bigint NOT NULL DEFAULT 0,
  price_kept_at timestamp with time zone,
  repriced jsonb,
  CONSTRAINT orders_pkey PRIMARY KEY (id),
  CONSTRAINT orders_amount_check CHECK ((amount > 0)),
  CONSTRAINT orders_check CHECK (((state = 'error'::text) <= (error IS NOT NULL))),
  CONSTRAINT orders_check1 CHECK (((refund_asked_at IS NULL) = (refund_asked_script IS NULL))),
  CONSTRAINT orders_check2 CHECK (((leaf_hash IS NULL) OR (leaves_deleted_at IS NOT NULL))),
  CONSTRAINT orders_extra_cost_check CHECK ((extra_cost >= 0)),
  CONSTRAINT orders_key_index_check CHECK ((key_index >= 0)),
  CONSTRAINT orders_key_index_key UNIQUE (key_index),
  CONSTRAINT orders_kind_check CHECK ((kind = ANY (ARRAY['direct'::text, 'bulk'::text]))),
  CONSTRAINT orders_leaf_hash_check CHECK ((length(leaf_hash) = 32)),
  CONSTRAINT orders_own_index_check CHECK ((own_index >= 0)),
  CONSTRAINT orders_own_index_key UNIQUE (own_index),
  CONSTRAINT orders_paid_estimate_check CHECK ((paid_estimate >= 0)),
  CONSTRAINT orders_paid_to_check CHECK ((paid_to = ANY (ARRAY['direct'::text, 'wallet'::text]))),
  CONSTRAINT orders_referral_fkey FOREIGN KEY (referral) REFERENCES service.referrals(code),
  CONSTRAINT orders_refund_script_check CHECK (((length(refund_script) >= 1) AND (length(refund_script) <= 520))),
  CONSTRAINT orders_script_check CHECK ((length(script) = 34)),
  CONSTRAINT orders_script_key UNIQUE (script),
  CONSTRAINT orders_state_check CHECK ((state = ANY (ARRAY['waiting-payment'::text, 'waiting-parent'::text, 'waiting-confirmation'::text, 'prep'::text, 'waiting-reveal'::text, 'waiting-rune-balance'::text, 'queued'::text, 'completed'::text, 'expired'::text, 'cancelled'::text, 'waiting-refund'::text, 'refunded'::text, 'error'::text]))),
  CONSTRAINT orders_step_check CHECK ((step >= 0))
);
CREATE INDEX orders_leaves ON service.orders USING btree (expires_at) WHERE ((leaves_deleted_at IS NULL) AND (state = ANY (ARRAY['expired'::text, 'cancelled'::text, 'waiting-refund'::text, 'refunded'::text])));
CREATE INDEX orders_look_at ON service.orders USING btree (look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX orders_referral ON service.orders USING btree (referral) WHERE (referral IS NOT NULL);
CREATE INDEX orders_refund_asked ON service.orders USING btree (refund_asked_at) WHERE (refund_asked_at IS NOT NULL);
CREATE INDEX orders_state ON service.orders USING btree (state, created_at);
CREATE INDEX orders_unpaid_files ON service.orders USING btree (leaves_deleted_at) WHERE ((leaves_deleted_at IS NOT NULL) AND (files_deleted_at IS NULL));

CREATE TABLE service.orders_audit (
  one boolean NOT NULL DEFAULT true,
  ended_at timestamp with time zone NOT NULL DEFAULT now(),
  seconds double precision NOT NULL,
  orders integer NOT NULL,
  differing integer NOT NULL,
  CONSTRAINT orders_audit_pkey PRIMARY KEY (one),
  CONSTRAINT orders_audit_differing_check CHECK ((differing >= 0)),
  CONSTRAINT orders_audit_one_check CHECK (one),
  CONSTRAINT orders_audit_orders_check CHECK ((orders >= 0)),
  CONSTRAINT orders_audit_seconds_check CHECK ((seconds >= (0)::double precision))
);

CREATE TABLE service.orders_offset (
  one boolean NOT NULL DEFAULT true,
  change bigint NOT NULL,
  CONSTRAINT orders_offset_pkey PRIMARY KEY (one),
  CONSTRAINT orders_offset_one_check CHECK (one)
);

CREATE TABLE service.payment_blocks (
  height integer NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT payment_blocks_pkey PRIMARY KEY (height),
  CONSTRAINT payment_blocks_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT payment_blocks_height_check CHECK ((height >= 0))
);

CREATE TABLE service.payment_holds (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  began_at timestamp with time zone NOT NULL DEFAULT now(),
  backup_at timestamp with time zone NOT NULL,
  height integer,
  orders_end integer NOT NULL,
  own_end integer NOT NULL,
  fees_end integer NOT NULL,
  released_at timestamp with time zone,
  booked integer,
  released integer,
  later_ends jsonb NOT NULL DEFAULT '[]'::jsonb,
  CONSTRAINT payment_holds_pkey PRIMARY KEY (id),
  CONSTRAINT payment_holds_booked_check CHECK ((booked >= 0)),
  CONSTRAINT payment_holds_check CHECK (((released_at IS NULL) = (booked IS NULL))),
  CONSTRAINT payment_holds_check1 CHECK (((released_at IS NULL) = (released IS NULL))),
  CONSTRAINT payment_holds_fees_end_check CHECK ((fees_end >= 0)),
  CONSTRAINT payment_holds_height_check CHECK ((height >= 0)),
  CONSTRAINT payment_holds_later_ends_check CHECK ((jsonb_typeof(later_ends) = 'array'::text)),
  CONSTRAINT payment_holds_orders_end_check CHECK ((orders_end >= 0)),
  CONSTRAINT payment_holds_own_end_check CHECK ((own_end >= 0)),
  CONSTRAINT payment_holds_released_check CHECK ((released >= 0))
);
CREATE UNIQUE INDEX payment_holds_active ON service.payment_holds USING btree (((released_at IS NULL))) WHERE (released_at IS NULL);

CREATE TABLE service.payment_inputs (
  txid bytea NOT NULL,
  spender bytea NOT NULL,
  outpoints bytea NOT NULL,
  CONSTRAINT payment_inputs_pkey PRIMARY KEY (txid, spender),
  CONSTRAINT payment_inputs_outpoints_check CHECK (((length(outpoints) % 36) = 0)),
  CONSTRAINT payment_inputs_spender_check CHECK ((length(spender) = 32)),
  CONSTRAINT payment_inputs_txid_check CHECK ((length(txid) = 32))
);

CREATE TABLE service.payments_offset (
  one boolean NOT NULL DEFAULT true,
  height integer NOT NULL,
  hash bytea NOT NULL,
  scripts integer NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  complete_at timestamp with time zone,
  CONSTRAINT payments_offset_pkey PRIMARY KEY (one),
  CONSTRAINT payments_offset_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT payments_offset_height_check CHECK ((height >= 0)),
  CONSTRAINT payments_offset_one_check CHECK (one),
  CONSTRAINT payments_offset_scripts_check CHECK ((scripts >= 0))
);

CREATE TABLE service.payments_seen (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  script bytea NOT NULL,
  value bigint NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  height integer,
  hash bytea,
  replaced_by bytea,
  gone_at timestamp with time zone,
  change bigint NOT NULL DEFAULT nextval('service.payment_changes'::regclass),
  CONSTRAINT payments_seen_pkey PRIMARY KEY (txid, vout),
  CONSTRAINT payments_seen_check CHECK (((height IS NULL) = (hash IS NULL))),
  CONSTRAINT payments_seen_check1 CHECK (((gone_at IS NULL) OR (height IS NULL))),
  CONSTRAINT payments_seen_check2 CHECK (((replaced_by IS NULL) OR (gone_at IS NOT NULL))),
  CONSTRAINT payments_seen_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT payments_seen_height_check CHECK ((height >= 0)),
  CONSTRAINT payments_seen_replaced_by_check CHECK ((length(replaced_by) = 32)),
  CONSTRAINT payments_seen_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT payments_seen_value_check CHECK ((value >= 0)),
  CONSTRAINT payments_seen_vout_check CHECK ((vout >= 0))
);
CREATE INDEX payments_seen_change ON service.payments_seen USING btree (change);
CREATE INDEX payments_seen_height ON service.payments_seen USING btree (height) WHERE (height IS NOT NULL);
CREATE INDEX payments_seen_script ON service.payments_seen USING btree (script);
CREATE INDEX payments_seen_unconfirmed ON service.payments_seen USING btree (txid) WHERE (height IS NULL);

CREATE TABLE service.payout_shares (
  payout uuid NOT NULL,
  account text NOT NULL,
  owner text,
  script bytea NOT NULL,
  address text NOT NULL,
  sats bigint NOT NULL,
  CONSTRAINT payout_shares_account_check CHECK ((account = ANY (ARRAY['referral'::text, 'creator'::text, 'service'::text, 'operator'::text, 'outside'::text]))),
  CONSTRAINT payout_shares_check CHECK (((owner IS NOT NULL) = (account = ANY (ARRAY['referral'::text, 'creator'::text])))),
  CONSTRAINT payout_shares_payout_fkey FOREIGN KEY (payout) REFERENCES service.payouts(id),
  CONSTRAINT payout_shares_sats_check CHECK ((sats > 0)),
  CONSTRAINT payout_shares_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520)))
);
CREATE UNIQUE INDEX payout_shares_once ON service.payout_shares USING btree (payout, account, COALESCE(owner, ''::text));
CREATE INDEX payout_shares_owner ON service.payout_shares USING btree (owner) WHERE (owner IS NOT NULL);
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE OR TRUNCATE ON service.payout_shares FOR EACH STATEMENT EXECUTE FUNCTION service.refuse_change();

CREATE TABLE service.payouts (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text NOT NULL,
  state text NOT NULL DEFAULT 'asked'::text,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  sent_at timestamp with time zone,
  mined_at timestamp with time zone,
  own_index integer,
  stuck text,
  missing_since integer,
  spends_txid bytea,
  spends_vout integer,
  fee_rate bigint,
  CONSTRAINT payouts_pkey PRIMARY KEY (id),
  CONSTRAINT payouts_fee_rate_check CHECK (((fee_rate >= 1) AND (fee_rate <= 200000))),
  CONSTRAINT payouts_kind_check CHECK ((kind = ANY (ARRAY['referral'::text, 'creator'::text, 'revenue'::text, 'return'::text, 'withdrawal'::text, 'consolidation'::text]))),
  CONSTRAINT payouts_missing_since_check CHECK ((missing_since >= 0)),
  CONSTRAINT payouts_own_index_check CHECK ((own_index >= 0)),
  CONSTRAINT payouts_return_check CHECK ((((spends_txid IS NOT NULL) = (kind = 'return'::text)) AND ((spends_vout IS NOT NULL) = (kind = 'return'::text)))),
  CONSTRAINT payouts_spends_txid_check CHECK ((length(spends_txid) = 32)),
  CONSTRAINT payouts_spends_vout_check CHECK ((spends_vout >= 0)),
  CONSTRAINT payouts_state_check CHECK ((state = ANY (ARRAY['asked'::text, 'signed'::text, 'sent'::text, 'mined'::text, 'settled'::text, 'cancelled'::text])))
);
CREATE INDEX payouts_consolidations ON service.payouts USING btree (asked_at) WHERE (kind = 'consolidation'::text);
CREATE INDEX payouts_open ON service.payouts USING btree (asked_at) WHERE (state <> ALL (ARRAY['settled'::text, 'cancelled'::text]));

CREATE UNLOGGED TABLE service.rate_limits (
  subject text NOT NULL,
  level double precision NOT NULL,
  at timestamp with time zone NOT NULL,
  per_second double precision NOT NULL,
  burst double precision NOT NULL,
  wanted integer NOT NULL,
  given_back integer NOT NULL,
  granted integer NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (subject)
);
ALTER TABLE service.rate_limits SET (fillfactor=50);

CREATE TABLE service.referrals (
  code text NOT NULL,
  address text NOT NULL,
  script bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT referrals_pkey PRIMARY KEY (code),
  CONSTRAINT referrals_code_check CHECK ((code ~ '^[!-~]{1,64}$'::text)),
  CONSTRAINT referrals_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520)))
);

CREATE TABLE service.reserved_outputs (
  order_id uuid NOT NULL,
  txid bytea NOT NULL,
  vout bigint NOT NULL,
  value bigint NOT NULL,
  key_index integer NOT NULL,
  height integer NOT NULL,
  block_hash bytea NOT NULL,
  place bigint NOT NULL,
  sat bigint NOT NULL,
  client text,
  reserved_at timestamp with time zone NOT NULL DEFAULT now(),
  released_at timestamp with time zone,
  failed_at timestamp with time zone,
  file integer NOT NULL,
  CONSTRAINT reserved_outputs_pkey PRIMARY KEY (order_id, file),
  CONSTRAINT reserved_outputs_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT reserved_outputs_check CHECK (((place >= 0) AND (place < value))),
  CONSTRAINT reserved_outputs_file_check CHECK ((file >= 0)),
  CONSTRAINT reserved_outputs_height_check CHECK ((height >= 0)),
  CONSTRAINT reserved_outputs_key_index_check CHECK (((key_index >= 0) AND (key_index <= 99))),
  CONSTRAINT reserved_outputs_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id) ON DELETE CASCADE,
  CONSTRAINT reserved_outputs_sat_check CHECK ((sat >= 0)),
  CONSTRAINT reserved_outputs_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT reserved_outputs_value_check CHECK ((value > 0)),
  CONSTRAINT reserved_outputs_vout_check CHECK (((vout >= 0) AND (vout <= '4294967295'::bigint)))
);
CREATE INDEX reserved_outputs_client ON service.reserved_outputs USING btree (client) WHERE (released_at IS NULL);
CREATE UNIQUE INDEX reserved_outputs_held ON service.reserved_outputs USING btree (txid, vout) WHERE (released_at IS NULL);

CREATE TABLE service.return_costs (
  txid bytea NOT NULL,
  sats bigint NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT return_costs_pkey PRIMARY KEY (txid),
  CONSTRAINT return_costs_sats_check CHECK ((sats >= 0)),
  CONSTRAINT return_costs_txid_fkey FOREIGN KEY (txid) REFERENCES service.wallet_transactions(txid)
);
CREATE INDEX return_costs_made_at ON service.return_costs USING btree (made_at);

CREATE TABLE service.test_payments (
  txid bytea NOT NULL,
  order_id uuid NOT NULL,
  account text NOT NULL,
  made_at timestamp with time zone NOT NULL,
  sats bigint NOT NULL,
  fee bigint NOT NULL,
  spent jsonb NOT NULL,
  returned jsonb NOT NULL,
  CONSTRAINT test_payments_pkey PRIMARY KEY (txid),
  CONSTRAINT test_payments_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT test_payments_fee_check CHECK ((fee > 0)),
  CONSTRAINT test_payments_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.token_orders(id),
  CONSTRAINT test_payments_sats_check CHECK ((sats >= 0)),
  CONSTRAINT test_payments_txid_check CHECK ((length(txid) = 32))
);
CREATE INDEX test_payments_account ON service.test_payments USING btree (account, made_at);
CREATE INDEX test_payments_made_at ON service.test_payments USING btree (made_at);
CREATE INDEX test_payments_order ON service.test_payments USING btree (order_id, made_at);

CREATE TABLE service.token_balances (
  account text NOT NULL,
  asset integer NOT NULL,
  amount numeric(40,0) NOT NULL DEFAULT 0,
  reserved numeric(40,0) NOT NULL DEFAULT 0,
  CONSTRAINT token_balances_pkey PRIMARY KEY (account, asset),
  CONSTRAINT token_balances_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT token_balances_asset_fkey FOREIGN KEY (asset) REFERENCES service.assets(id),
  CONSTRAINT token_balances_reserved_check CHECK ((reserved >= (0)::numeric))
);

CREATE TABLE service.token_charges (
  order_id uuid NOT NULL,
  kind text NOT NULL,
  amount numeric(39,0) NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  key_index integer NOT NULL,
  state text NOT NULL,
  txid bytea,
  CONSTRAINT token_charges_pkey PRIMARY KEY (order_id, kind),
  CONSTRAINT token_charges_amount_check CHECK (((amount >= (0)::numeric) AND (amount <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT token_charges_key_index_check CHECK ((key_index >= 0)),
  CONSTRAINT token_charges_kind_check CHECK ((kind = ANY (ARRAY['fee'::text, 'token'::text]))),
  CONSTRAINT token_charges_kind_key_index_key UNIQUE (kind, key_index),
  CONSTRAINT token_charges_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.token_orders(id),
  CONSTRAINT token_charges_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT token_charges_script_key UNIQUE (script),
  CONSTRAINT token_charges_state_check CHECK ((state = ANY (ARRAY['pending_payment'::text, 'payment_seen'::text, 'completed'::text, 'expired'::text]))),
  CONSTRAINT token_charges_txid_check CHECK ((length(txid) = 32))
);

CREATE TABLE service.token_credit_runes (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  asset integer NOT NULL,
  amount numeric(39,0) NOT NULL,
  CONSTRAINT token_credit_runes_pkey PRIMARY KEY (txid, vout, asset),
  CONSTRAINT token_credit_runes_amount_check CHECK (((amount >= (1)::numeric) AND (amount <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT token_credit_runes_asset_fkey FOREIGN KEY (asset) REFERENCES service.token_runes(asset),
  CONSTRAINT token_credit_runes_txid_vout_fkey FOREIGN KEY (txid, vout) REFERENCES service.token_credits(txid, vout) ON DELETE CASCADE
);

CREATE TABLE service.token_credits (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  order_id uuid NOT NULL,
  kind text NOT NULL,
  height integer NOT NULL,
  hash bytea NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  sats bigint NOT NULL,
  aside text,
  CONSTRAINT token_credits_pkey PRIMARY KEY (txid, vout),
  CONSTRAINT token_credits_aside_check CHECK ((aside = ANY (ARRAY['inscribed'::text, 'special'::text]))),
  CONSTRAINT token_credits_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT token_credits_height_check CHECK ((height >= 0)),
  CONSTRAINT token_credits_order_id_kind_fkey FOREIGN KEY (order_id, kind) REFERENCES service.token_charges(order_id, kind),
  CONSTRAINT token_credits_sats_check CHECK (((sats >= 0) AND (sats <= '2100000000000000'::bigint))),
  CONSTRAINT token_credits_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT token_credits_vout_check CHECK ((vout >= 0))
);
CREATE INDEX token_credits_aside ON service.token_credits USING btree (height) WHERE (aside IS NOT NULL);
CREATE INDEX token_credits_order ON service.token_credits USING btree (order_id);

CREATE TABLE service.token_decisions (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  order_id uuid NOT NULL,
  kind text NOT NULL,
  found text NOT NULL,
  decided_at timestamp with time zone NOT NULL DEFAULT now(),
  decided_by text NOT NULL,
  reason text NOT NULL,
  payout uuid,
  CONSTRAINT token_decisions_pkey PRIMARY KEY (txid, vout),
  CONSTRAINT token_decisions_check CHECK (((payout IS NOT NULL) = (kind = 'return'::text))),
  CONSTRAINT token_decisions_decided_by_check CHECK (((length(decided_by) >= 1) AND (length(decided_by) <= 100))),
  CONSTRAINT token_decisions_found_check CHECK ((found = ANY (ARRAY['inscribed'::text, 'special'::text]))),
  CONSTRAINT token_decisions_kind_check CHECK ((kind = ANY (ARRAY['credit'::text, 'return'::text]))),
  CONSTRAINT token_decisions_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.token_orders(id),
  CONSTRAINT token_decisions_payout_fkey FOREIGN KEY (payout) REFERENCES service.payouts(id),
  CONSTRAINT token_decisions_payout_key UNIQUE (payout),
  CONSTRAINT token_decisions_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 1000))),
  CONSTRAINT token_decisions_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT token_decisions_vout_check CHECK ((vout >= 0))
);
CREATE INDEX token_decisions_order ON service.token_decisions USING btree (order_id);

CREATE TABLE service.token_order_fees (
  token_order uuid NOT NULL,
  order_id uuid NOT NULL,
  amount bigint NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  paid text NOT NULL DEFAULT 'nothing'::text,
  txid bytea,
  state text NOT NULL DEFAULT 'pending_payment'::text,
  has_news boolean NOT NULL DEFAULT false,
  CONSTRAINT token_order_fees_pkey PRIMARY KEY (token_order),
  CONSTRAINT token_order_fees_amount_check CHECK (((amount >= 1) AND (amount <= '2100000000000000'::bigint))),
  CONSTRAINT token_order_fees_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id),
  CONSTRAINT token_order_fees_order_id_key UNIQUE (order_id),
  CONSTRAINT token_order_fees_paid_check CHECK ((paid = ANY (ARRAY['nothing'::text, 'part'::text, 'seen'::text, 'deep'::text, 'cancelled'::text]))),
  CONSTRAINT token_order_fees_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT token_order_fees_script_key UNIQUE (script),
  CONSTRAINT token_order_fees_state_check CHECK ((state = ANY (ARRAY['pending_payment'::text, 'payment_seen'::text, 'completed'::text, 'expired'::text]))),
  CONSTRAINT token_order_fees_token_order_fkey FOREIGN KEY (token_order) REFERENCES service.token_orders(id),
  CONSTRAINT token_order_fees_txid_check CHECK ((length(txid) = 32))
);
CREATE INDEX token_order_fees_news ON service.token_order_fees USING btree (order_id) WHERE has_news;

CREATE TABLE service.token_orders (
  id uuid NOT NULL,
  account text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone NOT NULL,
  look_at timestamp with time zone,
  is_waiting boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'pending'::text,
  asset integer NOT NULL,
  base_fee bigint NOT NULL,
  additional_fee bigint NOT NULL,
  description text,
  webhook_url text,
  success_url text,
  secret_key bytea,
  CONSTRAINT token_orders_pkey PRIMARY KEY (id),
  CONSTRAINT token_orders_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT token_orders_additional_fee_check CHECK (((additional_fee >= 0) AND (additional_fee <= '2100000000000000'::bigint))),
  CONSTRAINT token_orders_asset_fkey FOREIGN KEY (asset) REFERENCES service.token_runes(asset),
  CONSTRAINT token_orders_base_fee_check CHECK (((base_fee >= 0) AND (base_fee <= '2100000000000000'::bigint))),
  CONSTRAINT token_orders_check CHECK (((expires_at > created_at) AND (ends_at >= expires_at))),
  CONSTRAINT token_orders_check1 CHECK (((secret_key IS NULL) = (webhook_url IS NULL))),
  CONSTRAINT token_orders_description_check CHECK ((length(description) <= 1000)),
  CONSTRAINT token_orders_secret_key_check CHECK ((length(secret_key) = 32)),
  CONSTRAINT token_orders_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'completed'::text, 'error'::text])))
);
CREATE INDEX token_orders_account ON service.token_orders USING btree (account, created_at);
CREATE INDEX token_orders_look_at ON service.token_orders USING btree (look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX token_orders_pending ON service.token_orders USING btree (id) WHERE (state = 'pending'::text);
CREATE INDEX token_orders_waiting ON service.token_orders USING btree (id) WHERE is_waiting;

CREATE TABLE service.token_orders_offset (
  one boolean NOT NULL DEFAULT true,
  change bigint NOT NULL DEFAULT 0,
  CONSTRAINT token_orders_offset_pkey PRIMARY KEY (one),
  CONSTRAINT token_orders_offset_change_check CHECK ((change >= 0)),
  CONSTRAINT token_orders_offset_one_check CHECK (one)
);

CREATE TABLE service.token_reserve_accounts (
  hash bytea NOT NULL,
  account text NOT NULL,
  body text NOT NULL,
  CONSTRAINT token_reserve_accounts_pkey PRIMARY KEY (hash, account),
  CONSTRAINT token_reserve_accounts_hash_fkey FOREIGN KEY (hash) REFERENCES service.token_reserves(hash) ON DELETE CASCADE
);

CREATE TABLE service.token_reserve_pages (
  hash bytea NOT NULL,
  page integer NOT NULL,
  body text NOT NULL,
  CONSTRAINT token_reserve_pages_pkey PRIMARY KEY (hash, page),
  CONSTRAINT token_reserve_pages_hash_fkey FOREIGN KEY (hash) REFERENCES service.token_reserves(hash) ON DELETE CASCADE,
  CONSTRAINT token_reserve_pages_page_check CHECK ((page >= 1))
);

CREATE TABLE service.token_reserves (
  hash bytea NOT NULL,
  height integer NOT NULL,
  block_hash bytea NOT NULL,
  made_at timestamp with time zone NOT NULL,
  document text NOT NULL,
  signature_id text NOT NULL,
  signed_at bigint NOT NULL,
  signatures text NOT NULL,
  CONSTRAINT token_reserves_pkey PRIMARY KEY (hash),
  CONSTRAINT token_reserves_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT token_reserves_hash_check CHECK ((length(hash) = 32)),
  CONSTRAINT token_reserves_height_check CHECK ((height >= 0))
);
CREATE INDEX token_reserves_made_at ON service.token_reserves USING btree (made_at);

CREATE TABLE service.token_runes (
  asset integer NOT NULL,
  name text NOT NULL,
  divisibility smallint NOT NULL,
  CONSTRAINT token_runes_pkey PRIMARY KEY (asset),
  CONSTRAINT token_runes_asset_check CHECK ((asset <> 0)),
  CONSTRAINT token_runes_asset_fkey FOREIGN KEY (asset) REFERENCES service.assets(id),
  CONSTRAINT token_runes_divisibility_check CHECK (((divisibility >= 0) AND (divisibility <= 38))),
  CONSTRAINT token_runes_name_check CHECK (((length(name) >= 1) AND (length(name) <= 80)))
);

CREATE TABLE service.uploaded_files (
  s3_key text NOT NULL,
  sha256 bytea NOT NULL,
  bytes integer NOT NULL,
  media_type text NOT NULL,
  key_id integer NOT NULL,
  uploaded_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT uploaded_files_pkey PRIMARY KEY (s3_key),
  CONSTRAINT uploaded_files_bytes_check CHECK ((bytes > 0)),
  CONSTRAINT uploaded_files_key_id_fkey FOREIGN KEY (key_id) REFERENCES service.keys(id),
  CONSTRAINT uploaded_files_media_type_check CHECK (((length(media_type) >= 1) AND (length(media_type) <= 520))),
  CONSTRAINT uploaded_files_s3_key_check CHECK (((length(s3_key) >= 38) AND (length(s3_key) <= 300))),
  CONSTRAINT uploaded_files_sha256_check CHECK ((length(sha256) = 32))
);
CREATE INDEX uploaded_files_at ON service.uploaded_files USING btree (uploaded_at, s3_key);
CREATE INDEX uploaded_files_sha256 ON service.uploaded_files USING btree (sha256);

CREATE TABLE service.wallet (
  one boolean NOT NULL DEFAULT true,
  network text NOT NULL,
  account_xpub text NOT NULL,
  master_fingerprint text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  release_problem text,
  is_marked boolean NOT NULL DEFAULT false,
  CONSTRAINT wallet_pkey PRIMARY KEY (one),
  CONSTRAINT wallet_account_xpub_check CHECK ((length(account_xpub) = 111)),
  CONSTRAINT wallet_master_fingerprint_check CHECK ((master_fingerprint ~ '^[0-9a-f]{8}$'::text)),
  CONSTRAINT wallet_network_check CHECK ((network = ANY (ARRAY['mainnet'::text, 'testnet3'::text, 'testnet4'::text, 'signet'::text, 'regtest'::text]))),
  CONSTRAINT wallet_one_check CHECK (one)
);
CREATE TRIGGER keep_wallet BEFORE UPDATE ON service.wallet FOR EACH ROW EXECUTE FUNCTION service.keep_wallet();

CREATE TABLE service.wallet_branches (
  number smallint NOT NULL,
  name text NOT NULL,
  script_type text NOT NULL,
  descriptor text,
  next_index integer NOT NULL,
  released_end integer NOT NULL,
  release_session integer,
  release_table oid,
  wallet boolean NOT NULL DEFAULT true,
  CONSTRAINT wallet_branches_pkey PRIMARY KEY (number),
  CONSTRAINT wallet_branches_check CHECK ((descriptor ~~
CASE script_type
    WHEN 'p2tr'::text THEN 'tr(%'::text
    ELSE 'wpkh(%'::text
END)),
  CONSTRAINT wallet_branches_inventory CHECK (((name <> 'inventory'::text) OR ((next_index = 100) AND (released_end = 100)))),
  CONSTRAINT wallet_branches_known CHECK ((((((number = 0) AND (name = 'orders'::text) AND (script_type = 'p2tr'::text)) OR ((number = 1) AND (name = 'own'::text) AND (script_type = 'p2tr'::text))) OR ((number = 2) AND (name = 'inventory'::text) AND (script_type = 'p2tr'::text))) OR ((number = 3) AND (name = 'fees'::text) AND (script_type = 'p2wpkh'::text)))),
  CONSTRAINT wallet_branches_name_key UNIQUE (name),
  CONSTRAINT wallet_branches_next_index_check CHECK ((next_index >= 0)),
  CONSTRAINT wallet_branches_released CHECK ((next_index <= released_end)),
  CONSTRAINT wallet_branches_wallet_fkey FOREIGN KEY (wallet) REFERENCES service.wallet(one) ON DELETE CASCADE
);
CREATE TRIGGER end_release BEFORE INSERT ON service.wallet_branches FOR EACH ROW EXECUTE FUNCTION service.end_release();
CREATE TRIGGER keep_wallet_branch BEFORE UPDATE ON service.wallet_branches FOR EACH ROW EXECUTE FUNCTION service.keep_wallet_branch();

CREATE TABLE service.wallet_coins (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  value bigint NOT NULL,
  branch smallint NOT NULL,
  key_index integer NOT NULL,
  kind text NOT NULL,
  subject uuid,
  held text NOT NULL,
  why text NOT NULL,
  aside text,
  is_spent boolean NOT NULL DEFAULT false,
  CONSTRAINT wallet_coins_pkey PRIMARY KEY (txid, vout),
  CONSTRAINT wallet_coins_aside_check CHECK ((aside = ANY (ARRAY['inscribed'::text, 'runic'::text, 'special'::text]))),
  CONSTRAINT wallet_coins_branch_check CHECK ((branch >= 0)),
  CONSTRAINT wallet_coins_check CHECK (((kind = ANY (ARRAY['order'::text, 'payout'::text, 'token-order'::text])) = (subject IS NOT NULL))),
  CONSTRAINT wallet_coins_held_check CHECK ((held = ANY (ARRAY['free'::text, 'reserved'::text, 'waiting'::text, 'accounts'::text]))),
  CONSTRAINT wallet_coins_key_index_check CHECK ((key_index >= 0)),
  CONSTRAINT wallet_coins_kind_check CHECK ((kind = ANY (ARRAY['order'::text, 'bump'::text, 'fund'::text, 'payout'::text, 'token-order'::text]))),
  CONSTRAINT wallet_coins_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT wallet_coins_value_check CHECK ((value >= 0)),
  CONSTRAINT wallet_coins_vout_check CHECK ((vout >= 0)),
  CONSTRAINT wallet_coins_why_check CHECK ((why = ANY (ARRAY['payment'::text, 'deposit'::text, 'commit'::text, 'excess'::text, 'rest'::text, 'spending'::text, 'delivery'::text, 'revenue'::text, 'fund'::text, 'credit'::text])))
);
CREATE INDEX wallet_coins_accounts ON service.wallet_coins USING btree (kind, subject) INCLUDE (value, txid, vout) WHERE ((held = 'accounts'::text) AND (aside IS NULL) AND (NOT is_spent));
CREATE INDEX wallet_coins_free ON service.wallet_coins USING btree (value DESC, txid, vout) WHERE ((held = 'free'::text) AND (aside IS NULL));
CREATE INDEX wallet_coins_fund ON service.wallet_coins USING btree (txid) WHERE (kind = 'fund'::text);
CREATE INDEX wallet_coins_left ON service.wallet_coins USING btree (value DESC) WHERE ((kind = 'payout'::text) AND (held = 'accounts'::text));
CREATE INDEX wallet_coins_subject ON service.wallet_coins USING btree (subject) WHERE (subject IS NOT NULL);
CREATE INDEX wallet_coins_unspent ON service.wallet_coins USING btree (kind) INCLUDE (value, txid, vout) WHERE ((held = 'free'::text) AND (aside IS NULL) AND (NOT is_spent));
CREATE TRIGGER know_spent_coin BEFORE INSERT ON service.wallet_coins FOR EACH ROW EXECUTE FUNCTION service.know_spent_coin();

CREATE TABLE service.wallet_coins_fill (
  one boolean NOT NULL DEFAULT true,
  after uuid,
  orders bigint NOT NULL DEFAULT 0,
  began_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  CONSTRAINT wallet_coins_fill_pkey PRIMARY KEY (one),
  CONSTRAINT wallet_coins_fill_one_check CHECK (one),
  CONSTRAINT wallet_coins_fill_orders_check CHECK ((orders >= 0))
);

CREATE TABLE service.wallet_spends (
  txid bytea NOT NULL,
  vout integer NOT NULL,
  family bytea NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT wallet_spends_pkey PRIMARY KEY (txid, vout, family),
  CONSTRAINT wallet_spends_family_fkey FOREIGN KEY (family) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT wallet_spends_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT wallet_spends_vout_check CHECK ((vout >= 0))
);
CREATE INDEX wallet_spends_family ON service.wallet_spends USING btree (family);
CREATE UNIQUE INDEX wallet_spends_live ON service.wallet_spends USING btree (txid, vout) WHERE (ended_at IS NULL);
CREATE TRIGGER keep_spent_coins_added AFTER INSERT ON service.wallet_spends REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION service.keep_spent_coins();
CREATE TRIGGER keep_spent_coins_changed AFTER UPDATE ON service.wallet_spends REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION service.keep_spent_coins();

CREATE TABLE service.wallet_transactions (
  txid bytea NOT NULL,
  order_id uuid,
  kind text NOT NULL,
  index integer NOT NULL,
  files integer NOT NULL,
  bytes bytea NOT NULL,
  plan jsonb NOT NULL,
  fee bigint NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  sent_at timestamp with time zone,
  refusal text,
  superseded_at timestamp with time zone,
  height integer,
  replaces bytea,
  own_index integer,
  payout_id uuid,
  CONSTRAINT wallet_transactions_pkey PRIMARY KEY (txid),
  CONSTRAINT wallet_transactions_check CHECK ((replaces <> txid)),
  CONSTRAINT wallet_transactions_fee_check CHECK ((fee >= 0)),
  CONSTRAINT wallet_transactions_files_check CHECK ((files >= 0)),
  CONSTRAINT wallet_transactions_height_check CHECK ((height >= 0)),
  CONSTRAINT wallet_transactions_index_check CHECK ((index >= 0)),
  CONSTRAINT wallet_transactions_kind_check CHECK ((kind = ANY (ARRAY['commit'::text, 'reveal'::text, 'burn'::text, 'return'::text, 'refund'::text, 'bump'::text, 'payout'::text]))),
  CONSTRAINT wallet_transactions_order_id_fkey FOREIGN KEY (order_id) REFERENCES service.orders(id),
  CONSTRAINT wallet_transactions_own_index_check CHECK ((own_index >= 0)),
  CONSTRAINT wallet_transactions_own_index_check1 CHECK (((own_index IS NOT NULL) = (kind = ANY (ARRAY['bump'::text, 'payout'::text])))),
  CONSTRAINT wallet_transactions_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES service.payouts(id),
  CONSTRAINT wallet_transactions_replaces_fkey FOREIGN KEY (replaces) REFERENCES service.wallet_transactions(txid),
  CONSTRAINT wallet_transactions_subject_check CHECK ((((order_id IS NULL) = (kind = ANY (ARRAY['bump'::text, 'payout'::text]))) AND ((payout_id IS NULL) = (kind <> 'payout'::text)))),
  CONSTRAINT wallet_transactions_txid_check CHECK ((length(txid) = 32))
);
CREATE INDEX wallet_transactions_bumps ON service.wallet_transactions USING btree (txid) WHERE ((kind = 'bump'::text) AND (height IS NULL));
CREATE INDEX wallet_transactions_bumps_made ON service.wallet_transactions USING btree (made_at) WHERE (kind = 'bump'::text);
CREATE INDEX wallet_transactions_order ON service.wallet_transactions USING btree (order_id);
CREATE INDEX wallet_transactions_payout ON service.wallet_transactions USING btree (payout_id) WHERE (payout_id IS NOT NULL);
CREATE INDEX wallet_transactions_replacing ON service.wallet_transactions USING btree (replaces) WHERE (replaces IS NOT NULL);
CREATE INDEX wallet_transactions_watched ON service.wallet_transactions USING btree (order_id) WHERE ((height IS NULL) AND (kind = ANY (ARRAY['return'::text, 'refund'::text])));

CREATE TABLE service.watch_findings (
  watch_id uuid NOT NULL,
  thing text NOT NULL,
  state text NOT NULL,
  number bigint NOT NULL,
  txid bytea NOT NULL,
  height integer,
  block_hash bytea,
  replaced_by bytea,
  facts jsonb NOT NULL,
  first_seen timestamp with time zone NOT NULL DEFAULT now(),
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT watch_findings_pkey PRIMARY KEY (watch_id, thing),
  CONSTRAINT watch_findings_block_hash_check CHECK ((length(block_hash) = 32)),
  CONSTRAINT watch_findings_check CHECK ((((state = ANY (ARRAY['confirmed'::text, 'reorganised'::text])) = (height IS NOT NULL)) AND ((height IS NULL) = (block_hash IS NULL)))),
  CONSTRAINT watch_findings_check1 CHECK (((replaced_by IS NULL) OR (state = 'replaced'::text))),
  CONSTRAINT watch_findings_facts_check CHECK ((jsonb_typeof(facts) = 'object'::text)),
  CONSTRAINT watch_findings_height_check CHECK ((height >= 0)),
  CONSTRAINT watch_findings_number_check CHECK ((number >= 1)),
  CONSTRAINT watch_findings_replaced_by_check CHECK ((length(replaced_by) = 32)),
  CONSTRAINT watch_findings_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'confirmed'::text, 'replaced'::text, 'void'::text, 'reorganised'::text]))),
  CONSTRAINT watch_findings_thing_check CHECK (((length(thing) >= 1) AND (length(thing) <= 200))),
  CONSTRAINT watch_findings_txid_check CHECK ((length(txid) = 32)),
  CONSTRAINT watch_findings_watch_id_fkey FOREIGN KEY (watch_id) REFERENCES service.watches(id) ON DELETE CASCADE
);
CREATE INDEX watch_findings_block ON service.watch_findings USING btree (block_hash) WHERE (state = 'confirmed'::text);
CREATE INDEX watch_findings_changed ON service.watch_findings USING btree (changed_at);
CREATE UNIQUE INDEX watch_findings_number ON service.watch_findings USING btree (watch_id, number);
CREATE INDEX watch_findings_pending ON service.watch_findings USING btree (txid) WHERE (state = 'pending'::text);

CREATE TABLE service.watched_scripts (
  script bytea NOT NULL,
  watcher text NOT NULL,
  since_height integer NOT NULL,
  picked_up boolean NOT NULL DEFAULT false,
  next_height integer,
  CONSTRAINT watched_scripts_pkey PRIMARY KEY (script, watcher),
  CONSTRAINT watched_scripts_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT watched_scripts_since_height_check CHECK ((since_height >= 0)),
  CONSTRAINT watched_scripts_watcher_check CHECK (((length(watcher) >= 1) AND (length(watcher) <= 200)))
);
CREATE INDEX watched_scripts_new ON service.watched_scripts USING btree (script) WHERE (NOT picked_up);
CREATE INDEX watched_scripts_of_watcher ON service.watched_scripts USING btree (watcher);
CREATE INDEX watched_scripts_to_scan ON service.watched_scripts USING btree (next_height) WHERE (next_height IS NOT NULL);

CREATE TABLE service.watches (
  id uuid NOT NULL,
  key_id integer NOT NULL,
  kind text NOT NULL,
  condition jsonb NOT NULL,
  webhook_url text,
  secret_key bytea,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  since bigint NOT NULL,
  ended_at timestamp with time zone,
  end_reason text,
  last_number bigint NOT NULL DEFAULT 0,
  found bigint NOT NULL DEFAULT 0,
  CONSTRAINT watches_pkey PRIMARY KEY (id),
  CONSTRAINT watches_check CHECK (((secret_key IS NULL) = (webhook_url IS NULL))),
  CONSTRAINT watches_check1 CHECK (((ended_at IS NULL) = (end_reason IS NULL))),
  CONSTRAINT watches_condition_check CHECK ((jsonb_typeof(condition) = 'object'::text)),
  CONSTRAINT watches_end_reason_check CHECK ((end_reason = ANY (ARRAY['deleted'::text, 'gone'::text, 'revoked'::text]))),
  CONSTRAINT watches_found_check CHECK ((found >= 0)),
  CONSTRAINT watches_key_id_fkey FOREIGN KEY (key_id) REFERENCES service.keys(id),
  CONSTRAINT watches_kind_check CHECK ((kind = ANY (ARRAY['search'::text, 'sales'::text, 'children'::text, 'runes'::text, 'receipts'::text]))),
  CONSTRAINT watches_last_number_check CHECK ((last_number >= 0)),
  CONSTRAINT watches_secret_key_check CHECK ((length(secret_key) = 32)),
  CONSTRAINT watches_since_check CHECK ((since >= 0)),
  CONSTRAINT watches_webhook_url_check CHECK (((length(webhook_url) >= 1) AND (length(webhook_url) <= 4096)))
);
CREATE INDEX watches_deleted ON service.watches USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX watches_key ON service.watches USING btree (key_id, created_at, id);
CREATE INDEX watches_live ON service.watches USING btree (created_at, id) WHERE (ended_at IS NULL);

CREATE TABLE service.watches_offset (
  one boolean NOT NULL DEFAULT true,
  index_identity text NOT NULL,
  sequence bigint NOT NULL,
  height integer NOT NULL,
  mempool_position bigint NOT NULL DEFAULT 0,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT watches_offset_pkey PRIMARY KEY (one),
  CONSTRAINT watches_offset_height_check CHECK ((height >= '-1'::integer)),
  CONSTRAINT watches_offset_index_identity_check CHECK (((length(index_identity) >= 1) AND (length(index_identity) <= 200))),
  CONSTRAINT watches_offset_mempool_position_check CHECK ((mempool_position >= 0)),
  CONSTRAINT watches_offset_one_check CHECK (one),
  CONSTRAINT watches_offset_sequence_check CHECK ((sequence >= 0))
);

CREATE TABLE service.watches_owed (
  derived text NOT NULL,
  height integer NOT NULL,
  CONSTRAINT watches_owed_pkey PRIMARY KEY (derived),
  CONSTRAINT watches_owed_derived_check CHECK (((length(derived) >= 1) AND (length(derived) <= 100))),
  CONSTRAINT watches_owed_height_check CHECK ((height >= 0))
);

CREATE TABLE service.webhook_hosts (
  host text NOT NULL,
  is_quick boolean NOT NULL,
  tried_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_hosts_pkey PRIMARY KEY (host)
);
ALTER TABLE service.webhook_hosts SET (fillfactor=70);

CREATE TABLE service.webhook_keys (
  public_key bytea NOT NULL,
  is_current boolean NOT NULL,
  since timestamp with time zone NOT NULL,
  CONSTRAINT webhook_keys_pkey PRIMARY KEY (public_key),
  CONSTRAINT webhook_keys_public_key_check CHECK ((length(public_key) = 32))
);
CREATE UNIQUE INDEX webhook_keys_current ON service.webhook_keys USING btree (is_current) WHERE is_current;

CREATE TABLE service.webhook_subjects (
  subject text NOT NULL,
  last_sequence bigint NOT NULL,
  head_sequence bigint,
  host text,
  due_at timestamp with time zone,
  taken_by uuid,
  gone_url text,
  CONSTRAINT webhook_subjects_pkey PRIMARY KEY (subject),
  CONSTRAINT webhook_subjects_check CHECK ((((head_sequence IS NULL) = (due_at IS NULL)) AND ((head_sequence IS NULL) = (host IS NULL)))),
  CONSTRAINT webhook_subjects_check1 CHECK (((taken_by IS NULL) OR (head_sequence IS NOT NULL))),
  CONSTRAINT webhook_subjects_head_sequence_check CHECK ((head_sequence > 0)),
  CONSTRAINT webhook_subjects_last_sequence_check CHECK ((last_sequence > 0)),
  CONSTRAINT webhook_subjects_subject_check CHECK (((length(subject) >= 1) AND (length(subject) <= 200)))
);
ALTER TABLE service.webhook_subjects SET (fillfactor=70);
CREATE INDEX webhook_subjects_due ON service.webhook_subjects USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE service.webhooks (
  subject text NOT NULL,
  sequence bigint NOT NULL,
  id text NOT NULL,
  url text,
  host text,
  body bytea NOT NULL,
  secret_of text,
  created_at timestamp with time zone NOT NULL,
  state text NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  tried_at timestamp with time zone,
  status integer,
  error text,
  CONSTRAINT webhooks_pkey PRIMARY KEY (subject, sequence),
  CONSTRAINT webhooks_body_check CHECK ((length(body) <= 1048576)),
  CONSTRAINT webhooks_check CHECK ((((url IS NULL) = (host IS NULL)) AND ((url IS NULL) = (state = 'no-url'::text)))),
  CONSTRAINT webhooks_id_key UNIQUE (id),
  CONSTRAINT webhooks_secret_of_check CHECK (((length(secret_of) >= 1) AND (length(secret_of) <= 200))),
  CONSTRAINT webhooks_sequence_check CHECK ((sequence > 0)),
  CONSTRAINT webhooks_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'given-up'::text, 'gone'::text, 'no-url'::text]))),
  CONSTRAINT webhooks_subject_fkey FOREIGN KEY (subject) REFERENCES service.webhook_subjects(subject),
  CONSTRAINT webhooks_tries_check CHECK ((tries >= 0))
);
ALTER TABLE service.webhooks SET (fillfactor=80);
CREATE INDEX webhooks_failed ON service.webhooks USING btree (state) WHERE (state = ANY (ARRAY['given-up'::text, 'gone'::text]));
CREATE INDEX webhooks_settled ON service.webhooks USING btree (created_at) WHERE (state <> 'waiting'::text);
CREATE INDEX webhooks_waiting ON service.webhooks USING btree (subject, sequence) WHERE (state = 'waiting'::text);
CREATE INDEX webhooks_waiting_since ON service.webhooks USING btree (created_at) WHERE (state = 'waiting'::text);

CREATE TABLE service.withdrawal_addresses (
  account text NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  counts_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT withdrawal_addresses_pkey PRIMARY KEY (account, script),
  CONSTRAINT withdrawal_addresses_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT withdrawal_addresses_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520)))
);

CREATE TABLE service.withdrawals (
  id uuid NOT NULL,
  account text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  asset integer NOT NULL,
  amount numeric(39,0) NOT NULL,
  script bytea NOT NULL,
  address text NOT NULL,
  fee bigint NOT NULL,
  postage bigint NOT NULL,
  payer text NOT NULL,
  reserved_units numeric(40,0) NOT NULL GENERATED ALWAYS AS ((amount + (
CASE
    WHEN ((asset = 0) AND (payer = 'balance'::text)) THEN fee
    ELSE (0)::bigint
END)::numeric)) STORED,
  reserved_sats bigint NOT NULL GENERATED ALWAYS AS (
CASE
    WHEN ((asset <> 0) AND (payer = 'balance'::text)) THEN (fee + postage)
    ELSE (0)::bigint
END) STORED,
  fee_rate bigint,
  state text NOT NULL DEFAULT 'pending'::text,
  reason text,
  payout uuid,
  is_alone boolean NOT NULL DEFAULT false,
  txid bytea,
  paid_rate bigint,
  tries integer NOT NULL DEFAULT 0,
  processing_at timestamp with time zone,
  webhook_url text,
  secret_key bytea,
  cancel_asked_at timestamp with time zone,
  CONSTRAINT withdrawals_pkey PRIMARY KEY (id),
  CONSTRAINT withdrawals_account_fkey FOREIGN KEY (account) REFERENCES service.accounts(name),
  CONSTRAINT withdrawals_amount_check CHECK (((amount >= (1)::numeric) AND (amount <= '340282366920938463463374607431768211455'::numeric))),
  CONSTRAINT withdrawals_asset_fkey FOREIGN KEY (asset) REFERENCES service.assets(id),
  CONSTRAINT withdrawals_check CHECK (((secret_key IS NULL) = (webhook_url IS NULL))),
  CONSTRAINT withdrawals_check1 CHECK (((state <> ALL (ARRAY['processing'::text, 'completed'::text])) OR ((payout IS NOT NULL) AND (txid IS NOT NULL)))),
  CONSTRAINT withdrawals_check2 CHECK (((state <> 'error'::text) OR ((payout IS NULL) AND (reason IS NOT NULL)))),
  CONSTRAINT withdrawals_check3 CHECK ((((postage = 0) = (asset = 0)) AND ((payer <> 'withdrawal'::text) OR ((asset = 0) AND ((fee)::numeric < amount))))),
  CONSTRAINT withdrawals_fee_check CHECK ((fee >= 0)),
  CONSTRAINT withdrawals_fee_rate_check CHECK (((fee_rate >= 1) AND (fee_rate <= 200000))),
  CONSTRAINT withdrawals_paid_rate_check CHECK ((paid_rate >= 0)),
  CONSTRAINT withdrawals_payer_check CHECK ((payer = ANY (ARRAY['balance'::text, 'withdrawal'::text, 'operator'::text]))),
  CONSTRAINT withdrawals_payout_fkey FOREIGN KEY (payout) REFERENCES service.payouts(id),
  CONSTRAINT withdrawals_postage_check CHECK ((postage >= 0)),
  CONSTRAINT withdrawals_reason_check CHECK ((length(reason) <= 1000)),
  CONSTRAINT withdrawals_script_check CHECK (((length(script) >= 1) AND (length(script) <= 520))),
  CONSTRAINT withdrawals_secret_key_check CHECK ((length(secret_key) = 32)),
  CONSTRAINT withdrawals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'error'::text]))),
  CONSTRAINT withdrawals_tries_check CHECK ((tries >= 0)),
  CONSTRAINT withdrawals_txid_check CHECK ((length(txid) = 32))
);
CREATE INDEX withdrawals_account ON service.withdrawals USING btree (account, created_at);
CREATE INDEX withdrawals_cancelling ON service.withdrawals USING btree (cancel_asked_at) WHERE ((state = 'pending'::text) AND (cancel_asked_at IS NOT NULL));
CREATE INDEX withdrawals_open ON service.withdrawals USING btree (created_at) WHERE (state = 'pending'::text);
CREATE INDEX withdrawals_payout ON service.withdrawals USING btree (payout) WHERE (payout IS NOT NULL);
CREATE INDEX withdrawals_processing ON service.withdrawals USING btree (account) WHERE (state = 'processing'::text);

-- The chain as far as it is known: everything here is derived from blocks and can be made again.
-- docs/schema.md says what each table is for and which facts each field needs.
-- Secondary indexes are not here: indexer/apply/secondary-indexes.ts owns their list, because a first
-- bulk load builds them at its end.

CREATE TABLE chain.state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  network text NOT NULL,
  -- keys the fingerprints of outpoints, so that nobody outside can aim collisions at them
  fingerprint_key bytea NOT NULL CHECK (length(fingerprint_key) = 32),
  tip_height integer,
  tip_hash bytea CHECK (length(tip_hash) = 32),
  -- counts the times that blocks were taken back: derived data made from rows read before such a moment is void
  undo_epoch integer NOT NULL DEFAULT 0,
  -- versions of the rules by which texts and CBOR were derived from the raw bytes
  text_rules smallint NOT NULL,
  cbor_rules smallint NOT NULL,
  CHECK ((tip_height IS NULL) = (tip_hash IS NULL))
);

CREATE TABLE chain.blocks (
  height integer PRIMARY KEY,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  header bytea NOT NULL CHECK (length(header) = 80),
  time bigint NOT NULL,
  parsed_at timestamptz NOT NULL,
  size_bytes integer NOT NULL,
  tx_count integer NOT NULL,
  -- first height of the run of consecutive blocks that this one belongs to
  island_height integer NOT NULL,
  -- all blocks before it that can matter to inscriptions are known
  anchored boolean NOT NULL,
  -- the outputs that it spends are known
  has_spent boolean NOT NULL,
  -- first internal keys not used before this block, and not used after it
  first_key integer NOT NULL,
  next_key integer NOT NULL,
  next_content_id integer NOT NULL,
  next_metadata_id integer NOT NULL,
  -- running totals after this block; null where they are not known
  sequence bigint,
  blessed bigint,
  cursed bigint,
  unbound bigint,
  lost_sats bigint
);

-- Distinct contents. The same bytes count as another content where they are read in another way:
-- variant = encoding (0 none, 1 br, 2 gzip, 3 zstd, 4 unknown) + 8 where the content type is one whose text is searched.
CREATE TABLE chain.contents (
  content_id integer PRIMARY KEY,
  sha256 bytea NOT NULL,
  variant smallint NOT NULL,
  -- 0: not searchable, 1: the body itself is the folded text, 2: `folded` is
  text smallint NOT NULL,
  body bytea NOT NULL,
  folded bytea,
  -- of the decoded body, where a known encoding could be decoded within its limits
  decoded_sha256 bytea,
  decoded_length integer,
  CHECK ((text = 2) = (folded IS NOT NULL))
);
-- bodies are read whole and mostly small or compressed already
ALTER TABLE chain.contents ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE chain.contents ALTER COLUMN folded SET STORAGE EXTERNAL;

-- Distinct canonical metadata texts (docs/search.md, "Metadata as text").
CREATE TABLE chain.metadata_texts (
  metadata_id integer PRIMARY KEY,
  sha256 bytea NOT NULL,
  json bytea NOT NULL,
  folded bytea
);

-- The columns of this table and of locations stand so that nothing is lost to alignment: 8 bytes a row each.
CREATE TABLE chain.inscriptions (
  -- order of application; equals ord's sequence number on an anchored chain
  key integer PRIMARY KEY,
  index integer NOT NULL,
  fee bigint,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  input integer NOT NULL,
  content_id integer,
  number integer,
  metadata_id integer,
  -- kernel/primitives/curse.ts; 0 none, null unknown
  curse smallint,
  -- ord's bits as stored at the reveal (kernel/primitives/charm.ts), null unknown
  charms smallint,
  -- flags of the parser (indexer/parse/envelope-flags.ts)
  flags smallint NOT NULL,
  txid bytea NOT NULL,
  content_type bytea
);

-- What only some inscriptions have. Raw bytes are kept so that a changed rule needs no new sync.
CREATE TABLE chain.inscription_details (
  key integer PRIMARY KEY,
  content_encoding bytea,
  metaprotocol bytea,
  pointer bytea,
  delegate bytea CHECK (length(delegate) = 36),
  -- 36 bytes each, in the order of the envelope, as they were claimed
  claimed_parents bytea,
  metadata bytea,
  properties bytea,
  property_encoding bytea,
  -- the properties as ord shows them: {"gallery": […], "attributes": {…}}
  properties_json text,
  rune bytea,
  note bytea,
  -- tag and value of every field that no rule knows: compact size, tag, compact size, value, …
  unknown_fields bytea
);

-- Parents that hold, in order.
CREATE TABLE chain.parents (
  child_key integer NOT NULL,
  position integer NOT NULL,
  parent_key integer NOT NULL,
  height integer NOT NULL,
  PRIMARY KEY (child_key, position)
);

-- Where every inscription is and was: append-only, one row a move.
CREATE TABLE chain.locations (
  key integer NOT NULL,
  height integer NOT NULL,
  sat_offset bigint NOT NULL,
  value bigint,
  outpoint_fingerprint bigint,
  -- order within the block: index of the transaction, the coinbase counting as the last
  step integer NOT NULL,
  vout integer,
  -- height at which the output was spent; going back empties it again
  spent_height integer,
  -- 0 an output, 1 lost (null outpoint), 2 unbound
  place smallint NOT NULL,
  -- null: the transaction that revealed it
  txid bytea,
  script bytea,
  PRIMARY KEY (key, height, step)
);

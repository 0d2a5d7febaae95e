-- Collections that the service sells (docs/collections.md; docs/adr/0090-collections-for-sale.md).

CREATE TABLE service.mint_collections (
  -- its slug, also in the market once it is approved
  id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused', 'closed')),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  total_count integer NOT NULL CHECK (total_count BETWEEN 1 AND 100000),
  -- sats an item for the creator, where its phase has no price of its own
  price bigint NOT NULL CHECK (price BETWEEN 0 AND 2100000000000000),
  creator_address text CHECK (length(creator_address) <= 200),
  creator_script bytea CHECK (length(creator_script) BETWEEN 1 AND 520),
  -- prices in runes, as they were sent; null: none
  alt_prices jsonb,
  -- what was sent beside that, as answers show it
  shown jsonb NOT NULL,
  -- sha256 of the key that may change it; null: the operator alone
  key_hash bytea CHECK (length(key_hash) = 32),
  -- who created it without a key, as limits count clients; null: somebody with a key, or it is decided about
  client text,
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_at timestamptz,
  -- why it was refused or closed, for people
  reason text CHECK (length(reason) <= 1000),
  -- items that orders have, and those of them that are not paid for; equal to what mint_orders counts
  taken integer NOT NULL DEFAULT 0 CHECK (taken BETWEEN 0 AND total_count),
  unpaid integer NOT NULL DEFAULT 0 CHECK (unpaid BETWEEN 0 AND taken),
  CHECK ((creator_address IS NULL) = (creator_script IS NULL)),
  CHECK ((state = 'pending') = (decided_at IS NULL)),
  CHECK (client IS NULL OR state = 'pending'),
  CHECK (taken = 0 OR state IN ('approved', 'closed')),
  -- who is paid for its items is known before one is sold
  CHECK (state NOT IN ('approved', 'closed') OR creator_script IS NOT NULL OR price = 0)
);
CREATE INDEX mint_collections_state ON service.mint_collections (state, created_at);
CREATE INDEX mint_collections_client ON service.mint_collections (client) WHERE client IS NOT NULL;

-- The files of a collection, as its creator sent them. One file with a larger supply is an edition: each item is that file.
CREATE TABLE service.mint_files (
  collection text COLLATE "C" NOT NULL REFERENCES service.mint_collections ON DELETE CASCADE,
  place integer NOT NULL CHECK (place BETWEEN 0 AND 99999),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- null: the operator uploads it
  url text CHECK (length(url) <= 3000),
  -- bytes as its creator told; null: not told
  told_bytes bigint CHECK (told_bytes >= 0),
  -- what was approved and is sold: bytes of this hash are on the disk of files; null: not there yet
  sha256 bytea CHECK (length(sha256) = 32),
  bytes integer CHECK (bytes > 0),
  media_type text CHECK (length(media_type) <= 520),
  PRIMARY KEY (collection, place),
  CHECK ((sha256 IS NULL) = (bytes IS NULL) AND (sha256 IS NULL) = (media_type IS NULL))
);
CREATE UNIQUE INDEX mint_files_name ON service.mint_files (collection, name);
-- what names a file on the disk
CREATE INDEX mint_files_sha256 ON service.mint_files (sha256) WHERE sha256 IS NOT NULL;

-- Times and terms of a sale. A collection without any phase of its creator's has one: its whole supply, from its approval on.
CREATE TABLE service.mint_phases (
  collection text COLLATE "C" NOT NULL REFERENCES service.mint_collections ON DELETE CASCADE,
  phase text COLLATE "C" NOT NULL CHECK (phase ~ '^[A-Za-z0-9_-]{1,64}$'),
  -- in the order of the creator's list
  place integer NOT NULL CHECK (place BETWEEN 0 AND 99),
  -- items that it sells; null: all that are left
  items integer CHECK (items BETWEEN 1 AND 100000),
  -- everybody may buy, not only the addresses of its list
  is_public boolean NOT NULL,
  -- sats an item for the creator; null: the price of the collection
  price bigint CHECK (price BETWEEN 0 AND 2100000000000000),
  -- included, and not included; null: it is open from the approval on, and without end
  starts_at timestamptz,
  ends_at timestamptz,
  -- items that its orders have; equal to what mint_orders counts
  taken integer NOT NULL DEFAULT 0 CHECK (taken >= 0 AND taken <= items),
  PRIMARY KEY (collection, phase),
  CHECK (starts_at < ends_at)
);
CREATE UNIQUE INDEX mint_phases_place ON service.mint_phases (collection, place);

-- Addresses that a phase lists, and how many items each may pay for.
CREATE TABLE service.mint_allowances (
  collection text COLLATE "C" NOT NULL,
  phase text COLLATE "C" NOT NULL,
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  -- null: as many as the phase has
  items integer CHECK (items BETWEEN 0 AND 100000),
  PRIMARY KEY (collection, phase, script),
  FOREIGN KEY (collection, phase) REFERENCES service.mint_phases ON DELETE CASCADE
);

-- The items of an approved collection. An item has one order or none.
CREATE TABLE service.mint_items (
  collection text COLLATE "C" NOT NULL REFERENCES service.mint_collections ON DELETE CASCADE,
  -- its number, from 1
  item integer NOT NULL CHECK (item BETWEEN 1 AND 100000),
  file integer NOT NULL,
  -- random: free items are given in its order, which no one can foretell
  draw integer NOT NULL,
  -- the order that has it, and its place among the files of that order; null: it is free
  order_id uuid,
  order_place integer CHECK (order_place >= 0),
  PRIMARY KEY (collection, item),
  FOREIGN KEY (collection, file) REFERENCES service.mint_files,
  CHECK ((order_id IS NULL) = (order_place IS NULL))
);
CREATE INDEX mint_items_free ON service.mint_items (collection, draw) WHERE order_id IS NULL;
CREATE UNIQUE INDEX mint_items_order ON service.mint_items (order_id, order_place) WHERE order_id IS NOT NULL;

-- What an order buys of a collection. Terms are those of the time when it was made: later changes of phases change no order.
CREATE TABLE service.mint_orders (
  -- one that is being made has no row in orders yet
  order_id uuid PRIMARY KEY,
  collection text COLLATE "C" NOT NULL REFERENCES service.mint_collections,
  phase text COLLATE "C" NOT NULL,
  items integer NOT NULL CHECK (items BETWEEN 1 AND 1000),
  -- the numbers of its items, in the order of its files: also once others have them
  numbers integer[] NOT NULL CHECK (cardinality(numbers) = items),
  -- asked for by number, and not drawn
  is_requested boolean NOT NULL,
  -- the address whose allowance counts
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  -- sats an item for the creator, and who gets them; null: nothing is due
  price bigint NOT NULL CHECK (price >= 0),
  creator_address text,
  -- who reserved, as limits count clients; null: it is paid for, or over
  client text COLLATE "C",
  -- making: it is stored until held_until, or never had its items. unpaid: it has them for a time. allowed: paid for, within the
  -- allowance. refused: paid for beyond it. late: its payment waited too long for a block. released: it is over. These three have
  -- no items
  standing text NOT NULL DEFAULT 'making' CHECK (standing IN ('making', 'unpaid', 'allowed', 'refused', 'late', 'released')),
  held_until timestamptz,
  reserved_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (collection, phase) REFERENCES service.mint_phases,
  CHECK (price = 0 OR creator_address IS NOT NULL),
  CHECK ((client IS NOT NULL) = (standing IN ('making', 'unpaid'))),
  CHECK ((held_until IS NOT NULL) = (standing = 'making'))
);
CREATE INDEX mint_orders_allowance ON service.mint_orders (collection, phase, script) INCLUDE (items, standing);
CREATE INDEX mint_orders_making ON service.mint_orders (collection, held_until) WHERE standing = 'making';
CREATE INDEX mint_orders_client ON service.mint_orders (client) WHERE client IS NOT NULL;

-- shares of creators: an account of each address
ALTER TABLE service.payouts
  DROP CONSTRAINT payouts_kind_check,
  ADD CONSTRAINT payouts_kind_check CHECK (kind IN ('referral', 'creator', 'revenue'));
ALTER TABLE service.payout_shares
  DROP CONSTRAINT payout_shares_account_check,
  ADD CONSTRAINT payout_shares_account_check CHECK (account IN ('referral', 'creator', 'service', 'operator')),
  DROP CONSTRAINT payout_shares_check,
  ADD CONSTRAINT payout_shares_check CHECK ((owner IS NOT NULL) = (account IN ('referral', 'creator')));
ALTER TABLE service.ledger_entries
  DROP CONSTRAINT ledger_entries_payout_check,
  ADD CONSTRAINT ledger_entries_payout_check CHECK (subject_kind <> 'payout'
    OR (from_account IN ('referral', 'creator', 'service', 'operator') AND to_account IN ('outside', 'fee'))
    OR (to_account IN ('referral', 'creator', 'service', 'operator') AND from_account IN ('outside', 'fee')));

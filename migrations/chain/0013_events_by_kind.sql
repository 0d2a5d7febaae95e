-- Events of further kinds (docs/events.md). Those of inscriptions stay where they are, in the rows of chain.outbox.

-- One row a block that was applied and a kind other than inscriptions, from the kind's first height on; none for blocks that were
-- taken back before the kind was there. Written with the block's row of the outbox, or when the kind is completed.
CREATE TABLE chain.outbox_texts (
  -- of the block's row in chain.outbox
  sequence bigint NOT NULL,
  -- as in chain.event_hashes, never 0
  kind smallint NOT NULL CHECK (kind > 0),
  height integer NOT NULL,
  -- events of this kind
  event_count integer NOT NULL,
  -- their canonical text, deflated; null: not kept, it is made again from the tables as long as the block is there
  events bytea,
  PRIMARY KEY (kind, sequence)
);
ALTER TABLE chain.outbox_texts ALTER COLUMN events SET STORAGE EXTERNAL;
-- the texts that are to be forgotten
CREATE INDEX outbox_texts_kept ON chain.outbox_texts (height) WHERE events IS NOT NULL;

-- The events of applied blocks, of every kind.
CREATE VIEW chain.outbox_events AS
SELECT sequence, 0::smallint AS kind, event_count, events FROM chain.outbox WHERE cancels IS NULL
UNION ALL
SELECT sequence, kind, event_count, events FROM chain.outbox_texts;

-- A derived table whose rules change is made anew block by block, while its old rows answer (docs/adr/0052-rules-of-sales.md).
ALTER TABLE chain.derived_tables
  -- version of the rules that new rows follow
  ADD COLUMN rules smallint NOT NULL DEFAULT 1,
  -- blocks up to the tip have rows of these rules; higher ones may have older rows
  ADD COLUMN is_remade boolean NOT NULL DEFAULT false,
  DROP CONSTRAINT derived_tables_check1,
  ADD CONSTRAINT derived_tables_tip_check CHECK (tip_height IS NULL OR NOT is_followed OR is_remade);

-- A row that is no block: all events of this kind were made anew, and what was read of them before is void.
ALTER TABLE chain.outbox
  ADD COLUMN reclassified smallint,
  ADD CONSTRAINT outbox_reclassified_check CHECK (reclassified IS NULL OR (reclassified > 0 AND cancels IS NULL));
CREATE OR REPLACE VIEW chain.outbox_events AS
SELECT sequence, 0::smallint AS kind, event_count, events FROM chain.outbox
WHERE cancels IS NULL AND reclassified IS NULL
UNION ALL
SELECT sequence, kind, event_count, events FROM chain.outbox_texts;

-- Where each derived table stands (docs/adr/0017-derived-tables.md). A table that the writer keeps has a row of every block from
-- `from_height` on; one that is made for blocks that were indexed before has them up to a tip of its own.
CREATE TABLE chain.derived_tables (
  name text PRIMARY KEY,
  from_height integer NOT NULL,
  -- the writer adds the rows of each block in the block's transaction
  is_followed boolean NOT NULL,
  -- the last block whose rows are there; null: none, or the writer's own tip
  tip_height integer,
  tip_hash bytea,
  -- why it does not go on; null: it does
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  CHECK ((tip_height IS NULL) = (tip_hash IS NULL)),
  CHECK (tip_height IS NULL OR NOT is_followed),
  CHECK ((problem_code IS NULL) = (problem_message IS NULL) AND (problem_code IS NULL) = (problem_since IS NULL))
);

-- Counts the changes of is_followed. A batch compares it with what it was made for: it never writes too many tables or too few.
ALTER TABLE chain.state ADD COLUMN derived_epoch integer NOT NULL DEFAULT 0;

-- The address index is such a table.
INSERT INTO chain.derived_tables (name, from_height, is_followed)
SELECT 'outputs', 0, true FROM chain.state WHERE address_index;
ALTER TABLE chain.state DROP COLUMN address_index;

-- So is the number of children of each parent, which triggers kept until now. The rows stay as they are.
DROP TRIGGER count_new_children ON chain.parents;
DROP TRIGGER discount_old_children ON chain.parents;
DROP FUNCTION chain.count_new_children();
DROP FUNCTION chain.discount_old_children();
ALTER TABLE chain.collections RENAME TO parent_children;
ALTER TABLE chain.parent_children RENAME CONSTRAINT collections_pkey TO parent_children_pkey;
ALTER TABLE chain.parent_children RENAME CONSTRAINT collections_children_check TO parent_children_children_check;
DO $not_null$
DECLARE old record;
BEGIN
  -- from PostgreSQL 18 on NOT NULL has a name too
  FOR old IN SELECT conname FROM pg_constraint
    WHERE conrelid = 'chain.parent_children'::regclass AND contype = 'n' AND conname LIKE 'collections\_%'
  LOOP
    EXECUTE format('ALTER TABLE chain.parent_children RENAME CONSTRAINT %I TO %I', old.conname,
      'parent_children' || substr(old.conname, length('collections') + 1));
  END LOOP;
END
$not_null$;
INSERT INTO chain.derived_tables (name, from_height, is_followed)
SELECT 'parent_children', 0, true FROM chain.state;

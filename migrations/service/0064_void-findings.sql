-- Pending findings that do not come true, and blocks that were matched before the tables of the index had their rows
-- (docs/adr/0105-watches.md).

-- `void`: the transaction was mined, but does not make the thing
ALTER TABLE service.watch_findings
  DROP CONSTRAINT watch_findings_state_check,
  ADD CONSTRAINT watch_findings_state_check
    CHECK (state IN ('pending', 'confirmed', 'replaced', 'void', 'reorganised'));

-- Derived tables of the index that lacked the rows of matched blocks.
CREATE TABLE service.watches_owed (
  -- name of the derived table
  derived text PRIMARY KEY CHECK (length(derived) BETWEEN 1 AND 100),
  -- lowest block that must be matched again, once the table has all rows
  height integer NOT NULL CHECK (height >= 0)
);

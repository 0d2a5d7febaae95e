-- A derived table that a setting left out keeps its rows and its tip, so that it is filled from there when the setting is
-- taken back. Until then no pass fills it: readers are told that, and not to wait (docs/adr/0017-derived-tables.md).
ALTER TABLE chain.derived_tables
  ADD COLUMN is_wanted boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT derived_tables_wanted_check CHECK (is_wanted OR NOT is_followed);

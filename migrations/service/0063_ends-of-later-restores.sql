-- Indices of a backup that was made, and restored, while payments were on hold (docs/adr/0103-hold-after-restore.md). Like
-- 0061, a restore of a backup of an earlier version makes this column, so this file must be repeatable.
ALTER TABLE service.payment_holds
  -- ends of the indices that each of the later backups may have shown, as {"orders":1,"own":1,"fees":1}
  ADD COLUMN IF NOT EXISTS later_ends jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(later_ends) = 'array');

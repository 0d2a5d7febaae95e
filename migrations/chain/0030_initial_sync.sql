-- When the index was set up, and when it had first caught up with its source: ord's `/status` tells how long that took.
-- Both are null in a database that is older than these columns, the second also until then.
ALTER TABLE chain.state
  ADD COLUMN set_up_at timestamptz,
  ADD COLUMN caught_up_at timestamptz;

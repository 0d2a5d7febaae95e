-- Whether the mempool that is followed takes reveals of inscriptions: accepted (it held one), refused (the node's policy lets
-- none in), untested.

ALTER TABLE chain.mempool_state ADD COLUMN reveals text NOT NULL DEFAULT 'untested';

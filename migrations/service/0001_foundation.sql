-- What is precious: never rebuilt, only migrated. It refers to the chain by txid, outpoint and hash alone.

CREATE TABLE service.instance (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- one database serves one network for ever, also after the chain schema was rebuilt
  network text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

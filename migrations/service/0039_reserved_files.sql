-- Sats of the inventory for orders of several files (docs/orders.md, "Sats of the inventory").

-- one for each file; orders before had one file
ALTER TABLE service.reserved_outputs
  ADD COLUMN file integer NOT NULL DEFAULT 0 CHECK (file >= 0),
  DROP CONSTRAINT reserved_outputs_pkey,
  ADD CONSTRAINT reserved_outputs_pkey PRIMARY KEY (order_id, file);
ALTER TABLE service.reserved_outputs ALTER COLUMN file DROP DEFAULT;

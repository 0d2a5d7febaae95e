-- Payments to others that wait after a restore (docs/adr/0103-hold-after-restore.md). A restore of a backup of an earlier
-- version makes this table in the transaction that loads the rows, so this file must be repeatable.
CREATE TABLE IF NOT EXISTS service.payment_holds (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  began_at timestamptz NOT NULL DEFAULT now(),
  -- the time of the backup that was restored
  backup_at timestamptz NOT NULL,
  -- the last block that the backup was scanned to for payments; null: no block was scanned
  height integer CHECK (height >= 0),
  -- ends of the indices that the backup may have shown; later ones belong to payments that it does not know
  orders_end integer NOT NULL CHECK (orders_end >= 0),
  own_end integer NOT NULL CHECK (own_end >= 0),
  fees_end integer NOT NULL CHECK (fees_end >= 0),
  released_at timestamptz,
  -- what the release did: payments that the chain has and that were booked, and payments that were left to be made
  booked integer CHECK (booked >= 0),
  released integer CHECK (released >= 0),
  CHECK ((released_at IS NULL) = (booked IS NULL)),
  CHECK ((released_at IS NULL) = (released IS NULL))
);
CREATE UNIQUE INDEX IF NOT EXISTS payment_holds_active ON service.payment_holds ((released_at IS NULL))
 WHERE released_at IS NULL;

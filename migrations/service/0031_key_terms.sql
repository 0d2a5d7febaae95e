-- Prices and limits of a key (docs/access.md, "Terms of a key"). Null: those of the service. Keys that are there have none.

ALTER TABLE service.keys
  -- sats a file, of managed and of direct orders
  ADD COLUMN base_fee bigint CHECK (base_fee BETWEEN 0 AND 100000000),
  ADD COLUMN direct_base_fee bigint CHECK (direct_base_fee BETWEEN 0 AND 100000000),
  -- sats of the inventory that its unpaid orders may have
  ADD COLUMN reserved_max integer CHECK (reserved_max BETWEEN 1 AND 2000),
  -- discounts: sats, or percent of the fee
  ADD COLUMN base_fee_off bigint CHECK (base_fee_off BETWEEN 1 AND 100000000),
  ADD COLUMN base_fee_percent_off numeric(5, 2) CHECK (base_fee_percent_off > 0 AND base_fee_percent_off <= 100),
  ADD COLUMN rare_sats_fee_off bigint CHECK (rare_sats_fee_off BETWEEN 1 AND 100000000),
  ADD COLUMN rare_sats_fee_percent_off numeric(5, 2)
    CHECK (rare_sats_fee_percent_off > 0 AND rare_sats_fee_percent_off <= 100),
  ADD COLUMN collection_service_fee_off bigint CHECK (collection_service_fee_off BETWEEN 1 AND 100000000),
  ADD COLUMN collection_service_fee_percent_off numeric(5, 2)
    CHECK (collection_service_fee_percent_off > 0 AND collection_service_fee_percent_off <= 100),
  -- one at most for each fee, so that their order does not matter
  ADD CONSTRAINT keys_one_discount CHECK (
    num_nonnulls(base_fee_off, base_fee_percent_off) <= 1
    AND num_nonnulls(rare_sats_fee_off, rare_sats_fee_percent_off) <= 1
    AND num_nonnulls(collection_service_fee_off, collection_service_fee_percent_off) <= 1);

-- Valid keys by their hashes. The role that answers requests reads them by it alone: who does not know a key does not
-- learn of its account and terms.
CREATE FUNCTION service.keys_by_hash(hashes bytea[]) RETURNS SETOF service.keys
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
  AS 'SELECT * FROM service.keys WHERE hash = ANY (hashes) AND revoked_at IS NULL';
REVOKE EXECUTE ON FUNCTION service.keys_by_hash(bytea[]) FROM PUBLIC;

-- The rate below which the node takes nothing now: more than what it relays while its mempool is full. A withdrawal is priced by it.
ALTER TABLE service.node_policy
  -- sats for 1,000 virtual bytes; null: not asked since this column came
  ADD mempool_min_fee_rate bigint CHECK (mempool_min_fee_rate >= 0);

-- Two indexes of balances of runes in place of four: by script, what was got and which of it is left; by the block that spent, and
-- the rune. They were a fifth of what a first load spends on indexes. Where a load has not built the old ones, it builds the new.
DO $indexes$
BEGIN
  IF to_regclass('chain.rune_balances_received') IS NOT NULL THEN
    CREATE INDEX rune_balances_script ON chain.rune_balances (chain.hash32(script), height, spent_height);
  END IF;
  IF to_regclass('chain.rune_balances_spent') IS NOT NULL THEN
    CREATE INDEX rune_balances_spends ON chain.rune_balances (spent_height, rune_key) WHERE spent_height IS NOT NULL;
  END IF;
END
$indexes$;

DROP INDEX IF EXISTS chain.rune_balances_received, chain.rune_balances_owner, chain.rune_balances_spent,
  chain.rune_balances_rune_spent;

-- The index of cursed inscriptions now holds those without a number too (docs/adr/0026). The writer builds inscriptions_curse
-- like every secondary index.
DROP INDEX IF EXISTS chain.inscriptions_cursed;

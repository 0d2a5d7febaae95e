-- The sum of amounts, for groups of which most have one row. Postgres' sum prepares a state of its own for each group, which
-- took a third of the time of a list of holders.
CREATE AGGREGATE chain.total(numeric) (SFUNC = numeric_add, STYPE = numeric);

import { networks } from '#kernel/primitives/network.ts';

/**
 * Whether an inscription is cursed, if this is certain (docs/adr/0026). Lists and both search engines use this
 * expression for the filter `cursed`.
 */

const jubileeCases = Object.values(networks)
  .map(({ name, jubileeHeight }) => `WHEN '${name}' THEN ${jubileeHeight}`)
  .join(' ');

/**
 * SQL: the jubilee height of the database's network. It does not depend on a row, so Postgres reads it once per
 * statement.
 */
export const jubileeHeight = `(SELECT CASE network ${jubileeCases} END FROM chain.state WHERE one)`;

/**
 * SQL: whether ord treats a row of chain.inscriptions as cursed, with a negative number. SQL NULL if unknown. A known
 * number decides. If the number is unknown, no inscription from the jubilee height on is cursed; below that height the
 * curse decides.
 *
 * @param row the name of the row in the statement
 */
export const isCursed = (row: string): string =>
  `CASE WHEN ${row}.number IS NOT NULL THEN ${row}.number < 0 WHEN ${row}.height >= ${jubileeHeight} THEN false
    ELSE ${row}.curse <> 0 END`;

/**
 * SQL for an index on chain.inscriptions. It is true for all cursed inscriptions, and for inscriptions without a number
 * that the jubilee vindicated. An index can use only the columns of its own row, so it does not know the network.
 */
export const mayBeCursed = 'coalesce(number < 0, curse <> 0)';

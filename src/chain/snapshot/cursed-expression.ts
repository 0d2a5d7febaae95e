import { networks } from '#kernel/primitives/network.ts';

/**
 * Whether an inscription is cursed, as far as it is certain (docs/adr/0026). The filter `cursed` of lists and of both
 * search engines is this expression.
 */

const jubileeCases = Object.values(networks)
  .map(({ name, jubileeHeight }) => `WHEN '${name}' THEN ${jubileeHeight}`)
  .join(' ');

/** SQL: the jubilee height of the database's network. It depends on no row, so Postgres reads it once per statement. */
export const jubileeHeight = `(SELECT CASE network ${jubileeCases} END FROM chain.state WHERE one)`;

/**
 * SQL: whether ord treats a row of chain.inscriptions as cursed, with a negative number. SQL NULL: unknown. If the
 * number is known, it decides. Without a number, no inscription is cursed from the jubilee on; before it the curse
 * decides.
 *
 * @param row the name of the row in the statement
 */
export const isCursed = (row: string): string =>
  `CASE WHEN ${row}.number IS NOT NULL THEN ${row}.number < 0 WHEN ${row}.height >= ${jubileeHeight} THEN false
    ELSE ${row}.curse <> 0 END`;

/**
 * SQL for an index on chain.inscriptions: true for all cursed inscriptions, and for inscriptions without a number that
 * the jubilee vindicated. An index only uses its own row, so it does not know the network.
 */
export const mayBeCursed = 'coalesce(number < 0, curse <> 0)';

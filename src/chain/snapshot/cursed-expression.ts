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
 * SQL: whether ord counts a row of chain.inscriptions as cursed, with a negative number. Null: unknown. A known number
 * decides. Without a number, no inscription is cursed from the jubilee on, and before it the curse decides.
 *
 * @param row the name of the row in the statement
 */
export const isCursed = (row: string): string =>
  `CASE WHEN ${row}.number IS NOT NULL THEN ${row}.number < 0 WHEN ${row}.height >= ${jubileeHeight} THEN false
    ELSE ${row}.curse <> 0 END`;

/**
 * SQL for an index on chain.inscriptions: true for all cursed ones, and for those without a number that the jubilee
 * vindicated. An index sees only its own row, so it does not know the network.
 */
export const mayBeCursed = 'coalesce(number < 0, curse <> 0)';

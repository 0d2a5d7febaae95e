import { networks } from '#kernel/primitives/network.ts';

/**
 * Whether an inscription is cursed, as far as it is certain (docs/adr/0026). The filter `cursed` of lists and of both
 * search engines is this expression.
 */

const jubileeCases = Object.values(networks)
  .map(({ name, jubileeHeight }) => `WHEN '${name}' THEN ${jubileeHeight}`)
  .join(' ');

/** SQL: the jubilee height of the database's network. It depends on no row: Postgres reads it once for each statement. */
export const jubileeHeight = `(SELECT CASE network ${jubileeCases} END FROM chain.state WHERE one)`;

/**
 * SQL: whether a row of chain.inscriptions is cursed for ord, which then gives it a number below 0. Null: not known.
 * A number says it; without one, from the jubilee on nothing is cursed, and before it the curse says it.
 *
 * @param row the name of the row in the statement
 */
export const isCursed = (row: string): string =>
  `CASE WHEN ${row}.number IS NOT NULL THEN ${row}.number < 0 WHEN ${row}.height >= ${jubileeHeight} THEN false
    ELSE ${row}.curse <> 0 END`;

/**
 * SQL for an index on chain.inscriptions: true for all that are cursed, and for those without a number that the jubilee
 * vindicated. An index can look at its own row only, so it does not know the network.
 */
export const mayBeCursed = 'coalesce(number < 0, curse <> 0)';

import type pg from 'pg';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { earliestReveal } from './name-fault.ts';
import { unsignedNameFault } from './unsigned-name-fault.ts';

/**
 * Faults of an order's etching, according to the current index and mempool. A name may be taken, locked, or in a
 * pending etching; the terms may end too early. Empty if the order etches nothing. Throws `runes_not_indexed`,
 * `derived_table_behind`, `not_found` if the index never knows runes, and the reason of the signal.
 *
 * @param pool connections to the index
 */
export async function etchingFaults(
  pool: pg.Pool,
  network: NetworkParameters,
  { etching }: Pick<OrderTerms, 'etching'>,
  signal: AbortSignal,
): Promise<readonly RequestFault[]> {
  if (etching === null) return [];
  const { rune, spacers, terms } = etching;
  return withSnapshot(
    pool,
    async ({ client, tip }) => {
      await requireRunes(client);
      const tipHeight = tip?.height ?? null;
      const fault =
        rune === null
          ? null
          : await unsignedNameFault(client, network, { rune, spacers: spacers ?? 0 }, tipHeight);
      return [
        ...(fault === null ? [] : [{ message: `rune: ${fault}`, parameter: 'rune' }]),
        ...endFaults(terms?.heightEnd ?? null, earliestReveal(tipHeight)),
      ];
    },
    signal,
  );
}

/**
 * The fault of terms that end too early for any mint. The first mint can be in the block after the first block that
 * could etch the rune.
 */
function endFaults(end: bigint | number | null, height: number): readonly RequestFault[] {
  if (end === null || BigInt(end) > BigInt(height + 1)) return [];
  const message = `terms.height.end must be above ${height + 1}. The first block that could have the etching is ${height}, and no later block could have a mint.`;
  return [{ message, parameter: 'terms.height.end' }];
}

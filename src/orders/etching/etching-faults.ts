import type pg from 'pg';
import { nameRivals } from '#chain/runes/name-standing.queries.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { anotherOrder } from './etching-standing.ts';
import { isEtchedByAnother } from './etchings.store.ts';
import { earliestReveal, nameFault } from './name-fault.ts';

/**
 * Faults of what an order etches, by the index and the mempool of now: a name that is taken, locked, or etched by a pending
 * transaction, and terms whose last block comes too early. None: it etches nothing. Throws `runes_not_indexed`,
 * `derived_table_behind`, `not_found` where runes are never known, and the reason of the signal.
 *
 * @param pool of the index
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
      const height = earliestReveal(tip?.height ?? null);
      const fault =
        rune === null ? null : await faultOf(client, network, { rune, spacers: spacers ?? 0 }, height);
      return [
        ...(fault === null ? [] : [{ message: `rune: ${fault}`, parameter: 'rune' }]),
        ...endFaults(terms?.heightEnd ?? null, height),
      ];
    },
    signal,
  );
}

/** Why a name cannot be etched, by blocks, the mempool and other orders; null: it can. */
async function faultOf(
  client: pg.ClientBase,
  network: NetworkParameters,
  spaced: SpacedRune,
  height: number,
): Promise<string | null> {
  const name = formatSpacedRune(spaced);
  if (await isEtchedByAnother(client, null, spaced.rune)) return anotherOrder(name);
  return nameFault(name, await nameRivals(client, network, spaced.rune), height);
}

/** The fault of terms that end before the block after the first that could etch the rune. */
function endFaults(end: bigint | number | null, height: number): readonly RequestFault[] {
  if (end === null || BigInt(end) > BigInt(height + 1)) return [];
  const message = `terms.height.end must be above ${height + 1}: the first block that could etch the rune is ${height}, and no later one could mint it.`;
  return [{ message, parameter: 'terms.height.end' }];
}

import type pg from 'pg';
import { nameRivals } from '#chain/runes/name-standing.queries.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { isEtchedByAnother } from './etchings.store.ts';
import { earliestReveal, nameFault } from './name-fault.ts';

/**
 * The reason why an order without signed transactions cannot etch a name. Null if the order can etch the name.
 * Considers blocks, the mempool and other orders of this service.
 *
 * @param tip height of the index's tip; null if no block is indexed
 * @param orderId id of the order; null if the order is not created yet
 */
export async function unsignedNameFault(
  client: pg.ClientBase,
  network: NetworkParameters,
  spaced: SpacedRune,
  tip: number | null,
  orderId: string | null = null,
): Promise<string | null> {
  const name = formatSpacedRune(spaced);
  if (await isEtchedByAnother(client, orderId, spaced.rune))
    return `Another order of this service etches the name ${name}. Choose another name.`;
  return nameFault(name, await nameRivals(client, network, spaced.rune), earliestReveal(tip));
}

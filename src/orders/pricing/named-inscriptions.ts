import type pg from 'pg';
import { readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import { inscriptionKeys } from '#chain/inscriptions/inscription.queries.ts';
import { currentLocations, type Location } from '#chain/inscriptions/location.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { RequestFault } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';

/**
 * Faults of the inscriptions that an order names. An unknown delegate would never show anything, and a parent that
 * cannot be spent never arrives. Throws `inscription_not_indexed` if the index is late, because it may know the
 * inscriptions later.
 *
 * @param pool connections to the index
 */
export async function namedInscriptionFaults(
  pool: pg.Pool,
  { files, parents }: Pick<OrderTerms, 'files' | 'parents'>,
  { signal }: Asker,
): Promise<RequestFault[]> {
  const delegates = files.flatMap(({ delegate }): InscriptionId[] => (delegate === null ? [] : [delegate]));
  const named = [...delegates, ...parents.map(({ id }) => id)];
  if (named.length === 0) return [];
  return withSnapshot(
    pool,
    async ({ client, tip }) => {
      const keys = await inscriptionKeys(client, named);
      const known = keys.filter((key): key is InscriptionKey => key !== null);
      if (known.length < named.length) {
        const { status } = await readFollowerReport(client);
        const source = status?.sourceTip?.height ?? null;
        if (tip === null || (source !== null && tip.height < source))
          throw new AppError(
            'inscription_not_indexed',
            'The order names an inscription that this index does not have yet, because it has fewer blocks than its node. Try again later.',
          );
      }
      const locations = await currentLocations(client, known);
      const several = parents.length > 1 ? await severalFaults(client) : [];
      const single = named.flatMap((id, place): RequestFault[] => {
        const key = keys[place] ?? null;
        const isParent = place >= delegates.length;
        const why =
          key === null
            ? 'is not an inscription of this index'
            : isParent
              ? lostWords(locations.get(key))
              : null;
        if (why === null) return [];
        const [name, parameter] = isParent ? ['parent', 'parents'] : ['delegate', 'delegates'];
        return [{ message: `The ${name} ${formatInscriptionId(id.txid, id.index)} ${why}.`, parameter }];
      });
      return [...single, ...several];
    },
    signal,
  );
}

/**
 * Faults of several parents if runes are unknown, because runes of one parent would be returned with another parent.
 */
async function severalFaults(client: pg.ClientBase): Promise<RequestFault[]> {
  const { state } = await runeStanding(client);
  if (state === 'known') return [];
  const message =
    'An order can have only one parent here, because this service does not know runes (INDEX_RUNES). It would return the runes of a second parent to the returnAddress of the first parent.';
  return [{ message, parameter: 'parents' }];
}

const opReturn = 0x6a;

/** The reason why an inscription cannot be sent to a deposit. Null if it can be sent. */
function lostWords(location: Location | undefined): string | null {
  if (location?.script?.[0] === opReturn) return 'is burned, so it cannot be sent to a deposit address';
  if (location?.place === 'lost' || location?.place === 'unbound')
    return `is ${location.place} and not in an output, so it cannot be sent to a deposit address`;
  return null;
}

import type { ClientBase } from 'pg';
import { firstParents } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { childrenBeside } from '#chain/inscriptions/relative.queries.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { CollectionOfItem } from './collections-of.store.ts';

/** The items beside an inscription in a collection. */
export interface ItemNeighbours {
  /** The inscription's name in the list of an import. Null if it has no name. */
  readonly name: string | null;
  readonly previous: InscriptionId | null;
  readonly next: InscriptionId | null;
}

interface NeighbourRow {
  readonly side: 'own' | 'previous' | 'next';
  readonly txid: Txid;
  readonly index: number;
  readonly name: string | null;
}

/** SQL: the rows of an import ($1) before and after an inscription ($2, $3). */
const inImport = `WITH own AS (SELECT place, name FROM service.market_items WHERE txid = $2 AND index = $3 AND slug = $1)
  (SELECT 'own' AS side, $2::bytea AS txid, $3::integer AS index, name FROM own LIMIT 1)
  UNION ALL
  (SELECT 'previous', m.txid, m.index, m.name FROM own JOIN service.market_items m ON m.slug = $1 AND m.place < own.place
   ORDER BY m.place DESC LIMIT 1)
  UNION ALL
  (SELECT 'next', m.txid, m.index, m.name FROM own JOIN service.market_items m ON m.slug = $1 AND m.place > own.place
   ORDER BY m.place LIMIT 1)`;

/**
 * Finds the neighbours of an inscription in a collection. An import has the order of its list. Children of the
 * inscription's first parent have the order of their reveals. Returns null for galleries, because a gallery may name an
 * item twice. Takes one or two statements along indexes.
 */
export async function itemNeighbours(
  client: ClientBase,
  { id, key }: { readonly id: InscriptionId; readonly key: InscriptionKey },
  { kind, slug }: Pick<CollectionOfItem, 'kind' | 'slug'>,
): Promise<ItemNeighbours | null> {
  if (kind === 'gallery') return null;
  if (kind === 'import') {
    const values = [slug, Buffer.from(id.txid), id.index];
    return neighboursIn((await client.query<NeighbourRow>(inImport, values)).rows);
  }
  const [parent] = await firstParents(client, id, 1);
  if (parent === undefined) return null;
  return { name: null, ...(await childrenBeside(client, parent.key, key)) };
}

function neighboursIn(rows: readonly NeighbourRow[]): ItemNeighbours {
  const at = (side: NeighbourRow['side']): NeighbourRow | undefined => rows.find((row) => row.side === side);
  const idAt = (side: NeighbourRow['side']): InscriptionId | null => {
    const row = at(side);
    return row === undefined ? null : { txid: trustedTxid(row.txid), index: row.index };
  };
  return { name: at('own')?.name ?? null, previous: idAt('previous'), next: idAt('next') };
}

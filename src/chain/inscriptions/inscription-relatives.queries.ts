import type { ClientBase } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** The data of an inscription from which its neighbours are found. */
interface Standing {
  readonly key: InscriptionKey;
  readonly has_spent: boolean;
  readonly sequenced: boolean;
  readonly island_height: Height;
}

/** Maximum number of listed relatives, as in ord's `/inscription`. */
const relativesShown = 4;

interface RelativeRow {
  of: number;
  relation: string;
  txid: Txid;
  index: number;
  island_height: Height;
  ordered: boolean;
}

/** Relatives of an inscription. Of parents and children, only the first few are listed. */
export interface Relatives {
  readonly parents: readonly InscriptionId[];
  readonly children: readonly InscriptionId[];
  /** Null while children are being counted (chain.parent_children). */
  readonly childCount: number | null;
  readonly previous: InscriptionId | null;
  readonly next: InscriptionId | null;
}

export const noRelatives: Relatives = {
  parents: [],
  children: [],
  childCount: 0,
  previous: null,
  next: null,
};

/** Relatives by key. Costs two reads for any number of inscriptions. */
export async function relativesOf(
  client: ClientBase,
  mains: readonly Standing[],
): Promise<Map<InscriptionKey, Relatives>> {
  const keys = mains.map(({ key }) => key);
  const { rows } = await client.query<RelativeRow>({
    name: 'relatives_by_key',
    text: `SELECT asked.key AS of, listed.relation, i.txid, i.index,
       b.island_height, b.has_spent AND b.sequence IS NOT NULL AS ordered
     FROM unnest($1::integer[]) AS asked(key)
     CROSS JOIN LATERAL (
       (SELECT 'parent' AS relation, parent_key AS key, position::integer AS place
        FROM chain.parents WHERE child_key = asked.key ORDER BY position LIMIT $2)
       UNION ALL
       (SELECT 'child', child_key, child_key FROM chain.parents
        WHERE parent_key = asked.key ORDER BY child_key LIMIT $2)
       UNION ALL
       VALUES ('previous', asked.key - 1, 0), ('next', asked.key + 1, 0)
     ) AS listed
     JOIN chain.inscriptions i ON i.key = listed.key
     JOIN chain.blocks b ON b.height = i.height
     ORDER BY asked.key, listed.relation, listed.place`,
    values: [keys, relativesShown],
  });
  const { rows: counts } = await client.query<{
    behind: boolean;
    key: InscriptionKey | null;
    children: number;
  }>({
    name: 'child_counts_by_key',
    text: `SELECT state.behind, c.parent_key AS key, c.children
     FROM (SELECT EXISTS (SELECT FROM chain.derived_tables WHERE name = 'parent_children' AND NOT is_followed) AS behind) AS state
     LEFT JOIN chain.parent_children c ON c.parent_key = ANY($1)`,
    values: [keys],
  });
  const childCounts = new Map(counts.map(({ key, children }) => [key, children]));
  const isCounted = counts[0]?.behind !== true;
  const byKey = Map.groupBy(rows, (row) => row.of);
  return new Map(
    mains.map((main) => [
      main.key,
      relativesIn(byKey.get(main.key) ?? [], main, isCounted ? (childCounts.get(main.key) ?? 0) : null),
    ]),
  );
}

function relativesIn(rows: readonly RelativeRow[], main: Standing, childCount: number | null): Relatives {
  const of = (relation: string): InscriptionId[] =>
    rows.filter((row) => row.relation === relation).map(({ txid, index }) => ({ txid, index }));
  // neighbours must be in the same run of blocks, because only there the order equals ord's
  const isOrdered = main.has_spent && main.sequenced;
  const neighbour = (relation: string): InscriptionId | null => {
    const row = rows.find((candidate) => candidate.relation === relation);
    const isNext = isOrdered && row?.ordered === true && row.island_height === main.island_height;
    return isNext ? { txid: row.txid, index: row.index } : null;
  };
  return {
    parents: of('parent'),
    children: of('child'),
    childCount,
    previous: neighbour('previous'),
    next: neighbour('next'),
  };
}

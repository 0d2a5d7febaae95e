import type { ClientBase } from 'pg';
import type { Height } from '#kernel/primitives/height.ts';
import { type FoundCollection, membersOf } from '#market/collections/market-slug.store.ts';

/** Holders of a collection with their numbers of items, after a block. */
export interface ItemHolders {
  /** Number of items revealed up to the block: the sum of the next five fields. */
  readonly indexed: number;
  /** Number of items in an output of a holder. */
  readonly held: number;
  /** Number of items in an output whose script begins with OP_RETURN. */
  readonly burned: number;
  /** Number of items in the unclaimed fee of a block. */
  readonly lost: number;
  /** Number of items that are not bound to a sat. */
  readonly unbound: number;
  /** Number of items that were moved by a block whose spent outputs are unknown. */
  readonly unknown: number;
  /** Number of holders of all items. */
  readonly count: number;
  /**
   * The first holders in a packed form, which `holdersIn` reads. Holders with the most items come first. Holders with
   * the same number of items are sorted by script.
   */
  readonly packed: Buffer;
}

export interface ItemHolder {
  /** The holder's script, or only its first 128 bytes if it is longer. All scripts with an address are shorter. */
  readonly script: Uint8Array;
  readonly items: number;
}

/** The block after which holders are listed. */
export interface HoldersMoment {
  readonly height: Height;
  /** The lowest key of an inscription in later blocks. */
  readonly nextKey: number;
}

/**
 * Maximum number of listed holders. It equals the maximum number of items of an import. The list takes 4 MB if the
 * scripts have usual lengths. `count` is the number of all holders.
 */
export const listedHoldersMax = 100_000;

/** How long a walk may take, in ms. 100,000 items take two seconds. */
const walkMs = 10_000;
/** SQL: the first byte of a script that burns. */
const opReturn = String.raw`'\x6a'::bytea`;

const standings = { held: 0, burned: 1, lost: 2, unbound: 3, unknown: 4 } as const;

/**
 * Reads the location of each item of a collection after a block, with one look-up for each item. Postgres returns all
 * holders in one value, because a row for each holder would be 100,000 objects. Postgres ends the walk if it takes too
 * long (57014). The time limit also applies to the later statements of the snapshot.
 */
export async function readItemHolders(
  client: ClientBase,
  collection: FoundCollection,
  { height, nextKey }: HoldersMoment,
): Promise<ItemHolders> {
  const { sql, of } = membersOf(collection);
  await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
  const counts = Object.entries(standings).map(
    ([name, number]) => `count(*) FILTER (WHERE standing = ${number})::integer AS ${name}`,
  );
  const { rows } = await client.query<ItemHolders>(
    `WITH members AS (${sql}), placed AS (
       SELECT l.script, CASE
         WHEN l.place IS NULL OR l.spent_height <= $2 THEN ${standings.unknown}
         WHEN l.place = 1 THEN ${standings.lost}
         WHEN l.place = 2 THEN ${standings.unbound}
         WHEN l.script IS NULL THEN ${standings.unknown}
         WHEN substring(l.script FROM 1 FOR 1) = ${opReturn} THEN ${standings.burned}
         ELSE ${standings.held} END AS standing
       FROM members m LEFT JOIN LATERAL (
         SELECT place, script, spent_height FROM chain.locations l
         WHERE l.key = m.key AND l.height <= $2 ORDER BY l.height DESC, l.step DESC LIMIT 1
       ) l ON true
       WHERE m.key < $3
     ), holders AS (
       SELECT script, count(*)::integer AS items FROM placed WHERE standing = ${standings.held} GROUP BY script
     ), listed AS (
       SELECT script, items FROM holders ORDER BY items DESC, script LIMIT ${listedHoldersMax}
     )
     SELECT count(*)::integer AS indexed, ${counts.join(', ')},
       (SELECT count(*)::integer FROM holders) AS count,
       (SELECT coalesce(string_agg(int4send(items) || int4send(length(script)) || script, ''::bytea
          ORDER BY items DESC, script), ''::bytea) FROM listed) AS packed
     FROM placed`,
    [of, height, nextKey],
  );
  const [row] = rows;
  if (row === undefined) throw new RangeError('counts are one row');
  return row;
}

/** A part of the listed holders, in their order. */
export function holdersIn(packed: Buffer, offset: number, limit: number): ItemHolder[] {
  const found: ItemHolder[] = [];
  // reading the lengths of 100,000 scripts takes some milliseconds
  for (let at = 0, nth = 0; at < packed.length && nth < offset + limit; nth++) {
    const script = at + 8;
    const end = script + packed.readInt32BE(at + 4);
    if (nth >= offset) found.push({ items: packed.readInt32BE(at), script: packed.subarray(script, end) });
    at = end;
  }
  return found;
}

import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { withSatCharms } from '#kernel/sats/notation.ts';
import type { Sat } from '#kernel/sats/sat.ts';
import { currentLocations, type Location, storedCharms } from './location.queries.ts';

/** Keys of one page, and whether more follow. */
export interface KeyPage {
  readonly keys: readonly InscriptionKey[];
  readonly more: boolean;
}

/** Entries per page, as in ord. */
export const pageSize = 100;

function pageOf(keys: readonly InscriptionKey[]): KeyPage {
  return { keys: keys.slice(0, pageSize), more: keys.length > pageSize };
}

/** Valid parents, in the order of the envelope. `page` counts from 0. */
export async function parentPage(client: ClientBase, child: InscriptionKey, page: number): Promise<KeyPage> {
  const { rows } = await client.query<{ key: InscriptionKey }>(
    `SELECT parent_key AS key FROM chain.parents WHERE child_key = $1
     ORDER BY position LIMIT $2 OFFSET $3`,
    [child, pageSize + 1, page * pageSize],
  );
  return pageOf(rows.map(({ key }) => key));
}

/** Number of children between two marked children (indexer/derived/parent-children). */
const markedEvery = 1_000;

/**
 * Children in the order of application, without the first `first` children. Reads at most a thousand additional index
 * entries, whatever `first` is. Throws `derived_table_behind` while the marks are being filled.
 */
export async function childrenFrom(
  client: ClientBase,
  parent: InscriptionKey,
  first: number,
  limit: number,
): Promise<InscriptionKey[]> {
  if (first >= markedEvery) await requireNotBehind(client, 'parent_children');
  // if the mark is missing, the parent has no such children
  const { rows } = await client.query<{ key: InscriptionKey }>(
    `SELECT child_key AS key FROM chain.parents
     WHERE parent_key = $1 AND child_key >= CASE WHEN $2::bigint = 0 THEN 0 ELSE
       (SELECT child_key FROM chain.child_marks WHERE parent_key = $1 AND nth = $2) END
     ORDER BY child_key LIMIT $3 OFFSET $4`,
    [parent, first - (first % markedEvery), limit, first % markedEvery],
  );
  return rows.map(({ key }) => key);
}

/**
 * The children of a parent before and after one of its children, in the order of application. Costs two steps along an
 * index.
 */
export async function childrenBeside(
  client: ClientBase,
  parent: InscriptionKey,
  child: InscriptionKey,
): Promise<{ readonly previous: InscriptionId | null; readonly next: InscriptionId | null }> {
  const { rows } = await client.query<{ side: 'previous' | 'next'; txid: Txid; index: number }>(
    `SELECT near.side, i.txid, i.index FROM (
       (SELECT 'previous' AS side, child_key FROM chain.parents WHERE parent_key = $1 AND child_key < $2
        ORDER BY child_key DESC LIMIT 1)
       UNION ALL
       (SELECT 'next', child_key FROM chain.parents WHERE parent_key = $1 AND child_key > $2
        ORDER BY child_key LIMIT 1)
     ) AS near JOIN chain.inscriptions i ON i.key = near.child_key`,
    [parent, child],
  );
  const at = (side: 'previous' | 'next'): InscriptionId | null => {
    const row = rows.find((of) => of.side === side);
    return row === undefined ? null : { txid: row.txid, index: row.index };
  };
  return { previous: at('previous'), next: at('next') };
}

/** A page of children. `page` counts from 0. */
export async function childPage(client: ClientBase, parent: InscriptionKey, page: number): Promise<KeyPage> {
  return pageOf(await childrenFrom(client, parent, page * pageSize, pageSize + 1));
}

/** The data of a related inscription: ord's `RelativeInscriptionRecursive`. */
export interface InscriptionEntry {
  readonly id: InscriptionId;
  readonly number: number | null;
  readonly height: Height;
  readonly fee: Sats | null;
  /** Charms as ord stores them. They do not contain a loss by a later move. */
  readonly charms: number | null;
  readonly timestamp: number;
  readonly location: Location | null;
  /** The sat of the inscription. `null` if it has none, or if this server has no index of sats. */
  readonly sat: Sat | null;
}

/** Entries in the order of their keys. Makes two reads, so run it in a snapshot. */
export async function inscriptionEntries(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<InscriptionEntry[]> {
  const { rows } = await client.query<{
    key: InscriptionKey;
    txid: Txid;
    index: number;
    number: number | null;
    height: Height;
    fee: Sats | null;
    charms: number | null;
    time: number;
    sat: Sat | null;
  }>(
    `SELECT i.key, i.txid, i.index, i.number, i.height, i.fee, i.charms, b.time, s.sat
     FROM unnest($1::integer[]) WITH ORDINALITY AS asked(key, place)
     JOIN chain.inscriptions i ON i.key = asked.key
     JOIN chain.blocks b ON b.height = i.height
     LEFT JOIN chain.sats s ON s.key = i.key
     ORDER BY asked.place`,
    [keys],
  );
  const locations = await currentLocations(client, keys);
  return rows.map(({ key, txid, index, number, height, fee, charms: revealed, time, sat }) => {
    const location = locations.get(key) ?? null;
    const charms = withSatCharms(revealed, sat);
    return {
      id: { txid, index },
      number,
      height,
      fee,
      charms: charms === null || location === null ? null : storedCharms(charms, location),
      timestamp: time,
      location,
      sat,
    };
  });
}

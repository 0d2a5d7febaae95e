import type { ClientBase } from 'pg';
import { isCursed } from '#chain/snapshot/cursed-expression.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';

/** An inscription that a block or a pending transaction reveals, with all that searches compare. */
export interface ArrivedInscription {
  readonly txid: Txid;
  readonly index: number;
  /** The folded content, if the content is a text. */
  readonly text: Buffer | null;
  /** The metadata as folded text, and as JSON. */
  readonly metadata: Buffer | null;
  readonly metadataJson: Buffer | null;
  /** sha256 of the stored and of the decoded content, in hex. */
  readonly hashes: readonly string[];
  readonly contentType: Buffer | null;
  readonly metaprotocol: Buffer | null;
  readonly title: Buffer | null;
  readonly traits: Buffer | null;
  /** Ids of 36 bytes each. Null: no gallery, or galleries were not asked for. */
  readonly gallery: Buffer | null;
  /** Ids of the valid parents, 36 bytes each. */
  readonly parents: Buffer | null;
  /** Null: unknown, as for every pending inscription. */
  readonly cursed: boolean | null;
}

/**
 * Maximum number of inscriptions, and maximum bytes of their texts and galleries, that are read at once. A larger
 * inscription is read alone.
 */
const pageRows = 500;
const pageBytes = 8 * 1024 * 1024;

interface Row extends Omit<ArrivedInscription, 'hashes' | 'parents'> {
  readonly sha256: Buffer | null;
  readonly decoded_sha256: Buffer | null;
  readonly parent_txids: readonly Txid[] | null;
  readonly parent_indexes: readonly number[] | null;
}

/**
 * The inscriptions with keys from `first` to below `next`, in their order, in pages. All pages see one moment, because
 * `client` is in a transaction.
 */
export async function* readArrivedInscriptions(
  client: ClientBase,
  { first, next }: { readonly first: number; readonly next: number },
  wantsGalleries: boolean,
): AsyncGenerator<readonly ArrivedInscription[]> {
  for (let from = first; from < next; ) {
    const { rows: sizes } = await client.query<{ bytes: number }>(sizesSql(wantsGalleries), [
      from,
      Math.min(next, from + pageRows),
    ]);
    const end = from + rowsOfPage(sizes.map(({ bytes }) => bytes));
    const { rows } = await client.query<Row>(pageSql(wantsGalleries), [from, end]);
    yield rows.map(arrivedOf);
    from = end;
  }
}

/** Number of rows whose bytes fit in one page. It is at least 1. */
function rowsOfPage(sizes: readonly number[]): number {
  let count = 0;
  for (let bytes = 0; count < sizes.length; count++) {
    bytes += sizes[count] ?? 0;
    if (count > 0 && bytes > pageBytes) break;
  }
  return Math.max(1, count);
}

const galleryLength =
  '+ coalesce((SELECT sum(octet_length(g.ids)) FROM chain.gallery_pages AS g WHERE g.key = i.key), 0)';

const sizesSql = (wantsGalleries: boolean): string => `
  SELECT coalesce(octet_length(CASE c.text WHEN 1 THEN c.body WHEN 2 THEN c.folded END), 0)
         + coalesce(octet_length(m.json), 0) + coalesce(octet_length(m.folded), 0)
         + coalesce(octet_length(p.title), 0) + coalesce(octet_length(p.traits), 0)
         ${wantsGalleries ? galleryLength : ''} AS bytes
    FROM chain.inscriptions AS i
    LEFT JOIN chain.contents AS c USING (content_id)
    LEFT JOIN chain.metadata_texts AS m USING (metadata_id)
    LEFT JOIN chain.properties AS p USING (key)
   WHERE i.key >= $1 AND i.key < $2 ORDER BY i.key`;

const pageSql = (wantsGalleries: boolean): string => `
  SELECT i.txid, i.index, i.content_type AS "contentType", ${isCursed('i')} AS cursed,
         CASE c.text WHEN 1 THEN c.body WHEN 2 THEN c.folded END AS text, c.sha256, c.decoded_sha256,
         coalesce(m.folded, m.json) AS metadata, m.json AS "metadataJson", d.metaprotocol, p.title, p.traits,
         ${
           wantsGalleries
             ? '(SELECT string_agg(g.ids, NULL ORDER BY g.page) FROM chain.gallery_pages AS g WHERE g.key = i.key)'
             : 'NULL::bytea'
         } AS gallery, parents.txids AS parent_txids, parents.indexes AS parent_indexes
    FROM chain.inscriptions AS i
    LEFT JOIN chain.contents AS c USING (content_id)
    LEFT JOIN chain.metadata_texts AS m USING (metadata_id)
    LEFT JOIN chain.inscription_details AS d USING (key)
    LEFT JOIN chain.properties AS p USING (key)
    LEFT JOIN (SELECT child_key AS key, array_agg(parent.txid) AS txids, array_agg(parent.index) AS indexes
                 FROM chain.parents JOIN chain.inscriptions AS parent ON parent.key = parent_key
                WHERE child_key >= $1 AND child_key < $2 GROUP BY child_key) AS parents USING (key)
   WHERE i.key >= $1 AND i.key < $2 ORDER BY i.key`;

function arrivedOf({
  sha256,
  decoded_sha256,
  parent_txids,
  parent_indexes,
  ...row
}: Row): ArrivedInscription {
  return {
    ...row,
    hashes: [sha256, decoded_sha256].flatMap((hash) => (hash === null ? [] : [hash.toString('hex')])),
    parents:
      parent_txids === null
        ? null
        : Buffer.concat(
            parent_txids.map((txid, nth) => inscriptionIdBytes({ txid, index: parent_indexes?.[nth] ?? 0 })),
          ),
  };
}

/** An inscription that a pending transaction reveals. */
export interface PendingArrival extends ArrivedInscription {
  readonly position: number;
}

interface PendingRow extends Row {
  readonly position: number;
  readonly claimed: Buffer | null;
}

/**
 * Pending inscriptions at positions above `after`, in their order, at most a page. The page ends between transactions
 * only by chance, so continue after the last row. A parent is valid if the transaction moves the parent.
 */
export async function readPendingArrivals(
  client: ClientBase,
  after: { readonly position: number; readonly index: number },
): Promise<PendingArrival[]> {
  const { rows } = await client.query<PendingRow>(
    `SELECT p.position, p.txid, p.index, p.content_type AS "contentType", NULL::boolean AS cursed,
            CASE p.text WHEN 1 THEN p.body WHEN 2 THEN p.folded END AS text, p.sha256, p.decoded_sha256,
            coalesce(p.metadata_folded, p.metadata_json) AS metadata, p.metadata_json AS "metadataJson",
            p.metaprotocol, p.title, p.traits, p.gallery, p.claimed_parents AS claimed,
            (SELECT array_agg(moved.inscription_txid ORDER BY inscription_txid, inscription_index) FROM chain.mempool_transfers AS moved
              WHERE moved.position = p.position AND p.claimed_parents IS NOT NULL) AS parent_txids,
            (SELECT array_agg(moved.inscription_index ORDER BY inscription_txid, inscription_index) FROM chain.mempool_transfers AS moved
              WHERE moved.position = p.position AND p.claimed_parents IS NOT NULL) AS parent_indexes
       FROM chain.pending_inscriptions AS p
      WHERE (p.position, p.index) > ($1::bigint, $2::integer) ORDER BY p.position, p.index LIMIT ${pendingRows}`,
    [after.position, after.index],
  );
  return rows.map(({ position, claimed, ...row }) => {
    const arrived = arrivedOf(row);
    return { ...arrived, position, parents: claimed && claimedAmong(claimed, arrived.parents) };
  });
}

/** Maximum number of pending inscriptions that are read at once. All pending rows together have at most 64 MB. */
const pendingRows = 200;
const idBytes = 36;

/** The claimed ids that the transaction moves. */
function claimedAmong(claimed: Buffer, moved: Buffer | null): Buffer {
  const ids = new Set(idsOf(moved ?? Buffer.alloc(0)).map((id) => id.toString('hex')));
  return Buffer.concat(idsOf(claimed).filter((id) => ids.has(id.toString('hex'))));
}

function idsOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(bytes.length / idBytes) }, (_, nth) =>
    bytes.subarray(nth * idBytes, (nth + 1) * idBytes),
  );
}

import type { ClientBase } from 'pg';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import { type HeightRange, keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import { charmNames, charms } from '#kernel/primitives/charm.ts';
import { curseName } from '#kernel/primitives/curse.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatInscriptionId, inscriptionIdFromBytes } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { withSatCharms } from '#kernel/sats/notation.ts';
import type { Sat } from '#kernel/sats/sat.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';

/**
 * Number of keys in a page. There are no gaps between keys, so a page is one short index range, whatever the size of
 * the table.
 */
const keysPerPage = 1000;
/**
 * Maximum bytes of a page in memory. Metadata and claimed parents may be as large as a block allows, so a page with
 * large ones ends early. A page always has at least one row.
 */
const pageBytesMax = 8_000_000;

/**
 * Exports all inscriptions of the blocks in `range` as NDJSON, in the order of application. Each piece consists of
 * whole lines. Unknown fields are null (docs/adr/0004-null-never-a-guess.md). A page is read when the next piece is
 * requested. `client` must be in a snapshot; its planner settings are changed.
 */
export async function* exportInscriptions(client: ClientBase, range: HeightRange): AsyncGenerator<string> {
  await client.query(indexesOnly);
  const { first, end } = await keysOfHeights(client, range);
  if (first === null || end === null) return;
  for (let key = first; key < end; ) {
    const rows = await readPage(client, key, Math.min(key + keysPerPage, end));
    const last = rows.at(-1);
    // there are no gaps between keys, so every page has rows; an empty page would be read forever
    if (last === undefined) throw new RangeError(`no inscription has a key from ${key} on`);
    const parents = await readParents(client, key, last.key + 1);
    yield rows.map((row) => `${exportLine(row, parents.get(row.key) ?? [])}\n`).join('');
    key = last.key + 1;
  }
}

interface ExportRow {
  key: InscriptionKey;
  txid: Txid;
  index: number;
  height: Height;
  tx_index: number;
  input: number;
  number: number | null;
  sequence: number | null;
  curse: number | null;
  charms: number | null;
  sat: Sat | null;
  fee: Sats | null;
  content_type: Buffer | null;
  sha256: Buffer | null;
  size_bytes: number | null;
  metaprotocol: Buffer | null;
  delegate: Buffer | null;
  claimed_parents: Buffer | null;
  metadata: Buffer | null;
  parents_known: boolean;
  place: number | null;
  location_txid: Txid | null;
  vout: number | null;
  sat_offset: number | null;
  burned: boolean | null;
  spent_height: Height | null;
}

/** Reads the rows of the keys [first, end). If these rows are too large together, only the first of them. */
async function readPage(client: ClientBase, first: number, end: number): Promise<ExportRow[]> {
  const { rows } = await client.query<ExportRow>(
    `SELECT * FROM (
       SELECT i.key, i.txid, i.index, i.height, i.tx_index, i.input, i.number, i.curse, i.charms, s.sat, i.fee,
         -- the total after the block, counted back; among several of a block without spent outputs it is not known
         CASE WHEN b.has_spent OR b.next_key - b.first_key = 1 THEN b.sequence - b.next_key + i.key END AS sequence,
         i.content_type, c.sha256, length(c.body) AS size_bytes,
         d.metaprotocol, d.delegate, d.claimed_parents, m.json AS metadata,
         d.claimed_parents IS NULL OR (b.anchored AND b.has_spent) AS parents_known,
         l.place, l.txid AS location_txid, l.vout, l.sat_offset, l.spent_height,
         substring(l.script FROM 1 FOR 1) = '\\x6a' AS burned,
         sum(coalesce(length(d.claimed_parents), 0) + coalesce(length(m.json), 0)
           + coalesce(length(d.metaprotocol), 0) + coalesce(length(i.content_type), 0))
           OVER (ORDER BY i.key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
       FROM chain.inscriptions i
       JOIN chain.blocks b ON b.height = i.height
       LEFT JOIN chain.contents c ON c.content_id = i.content_id
       LEFT JOIN chain.inscription_details d ON d.key = i.key
       LEFT JOIN chain.metadata_texts m ON m.metadata_id = i.metadata_id
       LEFT JOIN chain.sats s ON s.key = i.key
       LEFT JOIN LATERAL (
         SELECT * FROM chain.locations WHERE key = i.key ORDER BY height DESC, step DESC LIMIT 1
       ) l ON true
       WHERE i.key >= $1 AND i.key < $2
     ) AS page
     WHERE coalesce(bytes_before, 0) < $3
     ORDER BY key`,
    [first, end, pageBytesMax],
  );
  return rows;
}

/** Ids of the valid parents, by key of the child, in order. */
async function readParents(
  client: ClientBase,
  first: number,
  end: number,
): Promise<Map<InscriptionKey, string[]>> {
  const { rows } = await client.query<{ child_key: InscriptionKey; txid: Txid; index: number }>(
    `SELECT p.child_key, i.txid, i.index
     FROM chain.parents p JOIN chain.inscriptions i ON i.key = p.parent_key
     WHERE p.child_key >= $1 AND p.child_key < $2
     ORDER BY p.child_key, p.position`,
    [first, end],
  );
  const parents = new Map<InscriptionKey, string[]>();
  for (const { child_key: child, txid, index } of rows) {
    const ids = parents.get(child);
    if (ids === undefined) parents.set(child, [formatInscriptionId(txid, index)]);
    else ids.push(formatInscriptionId(txid, index));
  }
  return parents;
}

function exportLine(row: ExportRow, parents: readonly string[]): string {
  const line = JSON.stringify({
    id: formatInscriptionId(row.txid, row.index),
    number: row.number,
    sequence: row.sequence,
    height: row.height,
    txIndex: row.tx_index,
    input: row.input,
    satpoint: satpointOf(row),
    contentType: utf8OrNull(row.content_type),
    contentLength: row.size_bytes,
    contentHash: row.sha256?.toString('hex') ?? null,
    curse: curseName(row.curse),
    charms: charmsNow(row),
    claimedParents: idsOf(row.claimed_parents),
    parents: row.parents_known ? parents : null,
    delegate: row.delegate === null ? null : idsOf(row.delegate)[0],
    metaprotocol: utf8OrNull(row.metaprotocol),
    fee: row.fee,
  });
  // the stored text is already JSON, so insert it unchanged, and its numbers keep all digits
  const metadata = row.metadata === null ? 'null' : row.metadata.toString('utf8');
  return `${line.slice(0, line.lastIndexOf(',"fee":'))},"metadata":${metadata},"fee":${row.fee}}`;
}

/**
 * Whether the current location of an inscription is known. A spent row without a successor means an unknown location.
 */
const isKnown = (row: ExportRow): boolean => row.place !== null && row.spent_height === null;

function satpointOf(row: ExportRow): string | null {
  if (!isKnown(row)) return null;
  if (row.place === 1) return `${nullTxid}:${lostVout}:${row.sat_offset}`;
  if (row.place === 2) return `${nullTxid}:0:${row.sat_offset}`;
  return `${displayHash(row.location_txid ?? row.txid)}:${row.vout}:${row.sat_offset}`;
}
const nullTxid = '0'.repeat(64);
const lostVout = 0xffff_ffff;

/** ord's charms: the charms of the reveal and of the sat, plus burned and lost from the location. */
function charmsNow(row: ExportRow): string[] | null {
  const revealed = withSatCharms(row.charms, row.sat);
  if (revealed === null || !isKnown(row)) return null;
  return charmNames(
    revealed | (row.burned === true ? charms.burned : 0) | (row.place === 1 ? charms.lost : 0),
  );
}

const idLength = 36;

function idsOf(bytes: Uint8Array | null): string[] {
  const ids: string[] = [];
  for (let at = 0; bytes !== null && at < bytes.length; at += idLength) {
    const { txid, index } = inscriptionIdFromBytes(bytes.subarray(at, at + idLength));
    ids.push(formatInscriptionId(txid, index));
  }
  return ids;
}

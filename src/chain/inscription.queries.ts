import type pg from 'pg';
import type { ClientBase } from 'pg';
import { charms } from '#kernel/primitives/charm.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type InscriptionId, inscriptionIdFromBytes } from '#kernel/primitives/inscription-id.ts';
import { utf8OrNull } from './utf8.ts';

export type InscriptionQuestion =
  | { readonly kind: 'id'; readonly id: InscriptionId }
  | { readonly kind: 'number'; readonly number: number };

/** Where an inscription is: an output, lost (the null outpoint) or unbound (nowhere). */
export interface Location {
  readonly place: 'output' | 'lost' | 'unbound';
  /** `<txid>:<vout>:<offset>` as ord writes it. */
  readonly satpoint: string;
  /** Value and script of the output; null where it is none. */
  readonly value: number | null;
  readonly script: Uint8Array | null;
}

export interface InscriptionDetail {
  readonly id: InscriptionId;
  /** Order of application; ord's sequence number on an anchored chain. */
  readonly key: number;
  readonly number: number | null;
  readonly height: number;
  readonly blockHash: Uint8Array;
  /** Unix seconds of the block's header. */
  readonly timestamp: number;
  readonly anchored: boolean;
  readonly hasSpent: boolean;
  readonly sequenced: boolean;
  readonly numbered: boolean;
  readonly txIndex: number;
  readonly input: number;
  /** UTF-8 only, as ord reads it; null otherwise. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentId: number | null;
  /** Of the body as stored; null without a body. */
  readonly contentLength: number | null;
  readonly contentHash: Uint8Array | null;
  /** The delegate's type (null if it has none); its own where it has no delegate that is known. */
  readonly effectiveContentType: string | null;
  readonly delegate: InscriptionId | null;
  readonly metaprotocol: string | null;
  /** Canonical JSON text of the metadata. */
  readonly metadataJson: string | null;
  /** JSON text as ord shows it: {"gallery": […], "attributes": {…}}. */
  readonly propertiesJson: string | null;
  readonly curse: number | null;
  /** Bits as ord shows them now: those of the reveal, and burned and lost by where it is. */
  readonly charms: number | null;
  readonly fee: number | null;
  readonly location: Location | null;
  /** Parents that hold, in order; null where it is not known which do. */
  readonly parents: readonly InscriptionId[] | null;
  /** The first children, and how many are known. */
  readonly children: readonly InscriptionId[];
  readonly childCount: number;
  /** No other children can be in blocks that are missing. */
  readonly hasAllChildren: boolean;
  /** By sequence number; null at an end, and where the order is not known. */
  readonly previous: InscriptionId | null;
  readonly next: InscriptionId | null;
}

interface MainRow {
  key: number;
  txid: Buffer;
  index: number;
  height: number;
  tx_index: number;
  input: number;
  number: number | null;
  curse: number | null;
  charms: number | null;
  fee: number | null;
  content_type: Buffer | null;
  sha256: Buffer | null;
  size_bytes: number | null;
  content_encoding: Buffer | null;
  metaprotocol: Buffer | null;
  delegate: Buffer | null;
  claimed_parents: Buffer | null;
  properties_json: string | null;
  metadata_json: Buffer | null;
  block_hash: Buffer;
  time: number;
  anchored: boolean;
  has_spent: boolean;
  sequenced: boolean;
  numbered: boolean;
  content_id: number | null;
  island_height: number;
  tip_island_height: number;
}

/** How many relatives are listed, as ord's `/inscription` lists them. */
const relativesShown = 4;

/**
 * All that is known of one inscription; null where it is not indexed. Five small reads: run it in a snapshot.
 */
export async function inscriptionDetail(
  client: ClientBase,
  question: InscriptionQuestion,
): Promise<InscriptionDetail | null> {
  const row = await mainRow(client, question);
  if (row === null) return null;
  const location = await currentLocation(client, row);
  const delegate = row.delegate === null ? null : inscriptionIdFromBytes(row.delegate);
  const ownType = utf8OrNull(row.content_type);
  const relatives = await relativesOf(client, row);
  return {
    id: { txid: row.txid, index: row.index },
    key: row.key,
    number: row.number,
    height: row.height,
    blockHash: row.block_hash,
    timestamp: row.time,
    anchored: row.anchored,
    hasSpent: row.has_spent,
    sequenced: row.sequenced,
    numbered: row.numbered,
    txIndex: row.tx_index,
    input: row.input,
    contentType: ownType,
    contentEncoding: utf8OrNull(row.content_encoding),
    contentId: row.content_id,
    contentLength: row.size_bytes,
    contentHash: row.sha256,
    effectiveContentType: delegate === null ? ownType : await delegateType(client, delegate, ownType),
    delegate,
    metaprotocol: utf8OrNull(row.metaprotocol),
    metadataJson: row.metadata_json === null ? null : row.metadata_json.toString('utf8'),
    propertiesJson: row.properties_json,
    curse: row.curse,
    charms: row.charms === null || location === null ? null : charmsNow(row.charms, location),
    fee: row.fee,
    location,
    parents: knowsParents(row) ? relatives.parents : null,
    children: relatives.children,
    childCount: relatives.childCount,
    hasAllChildren: isFollowedToTip(row),
    previous: relatives.previous,
    next: relatives.next,
  };
}

/** Which of the claimed parents hold takes the whole history; that none is claimed does not (docs/schema.md). */
function knowsParents(row: MainRow): boolean {
  return row.claimed_parents === null || (row.anchored && row.has_spent);
}

function isFollowedToTip(row: MainRow): boolean {
  return row.anchored && row.has_spent && row.island_height === row.tip_island_height;
}

async function mainRow(client: ClientBase, question: InscriptionQuestion): Promise<MainRow | null> {
  const where = question.kind === 'id' ? 'i.txid = $1 AND i.index = $2' : 'i.number = $1';
  const values = question.kind === 'id' ? [question.id.txid, question.id.index] : [question.number];
  const { rows } = await client.query<MainRow>(
    `SELECT i.key, i.txid, i.index, i.height, i.tx_index, i.input, i.number, i.curse, i.charms, i.fee,
       i.content_type, i.content_id, c.sha256, length(c.body) AS size_bytes,
       d.content_encoding, d.metaprotocol, d.delegate, d.claimed_parents, d.properties_json,
       m.json AS metadata_json, b.hash AS block_hash, b.time, b.anchored, b.has_spent,
       b.sequence IS NOT NULL AS sequenced,
       b.blessed IS NOT NULL AND b.cursed IS NOT NULL AS numbered, b.island_height,
       (SELECT island_height FROM chain.blocks ORDER BY height DESC LIMIT 1) AS tip_island_height
     FROM chain.inscriptions i
     JOIN chain.blocks b ON b.height = i.height
     LEFT JOIN chain.contents c ON c.content_id = i.content_id
     LEFT JOIN chain.inscription_details d ON d.key = i.key
     LEFT JOIN chain.metadata_texts m ON m.metadata_id = i.metadata_id
     WHERE ${where}`,
    values,
  );
  return rows[0] ?? null;
}

const nullTxid = '0'.repeat(64);
const lostVout = 0xffff_ffff;

async function currentLocation(client: ClientBase, row: MainRow): Promise<Location | null> {
  const { rows } = await client.query<{
    place: number;
    txid: Buffer | null;
    vout: number | null;
    sat_offset: number;
    value: number | null;
    script: Buffer | null;
    spent_height: number | null;
  }>(
    `SELECT place, txid, vout, sat_offset, value, script, spent_height FROM chain.locations
     WHERE key = $1 ORDER BY height DESC, step DESC LIMIT 1`,
    [row.key],
  );
  const last = rows[0];
  // spent by a block whose other facts are missing: where it went is not known
  if (last === undefined || last.spent_height !== null) return null;
  const { value, script } = last;
  if (last.place === 1) {
    return { place: 'lost', satpoint: `${nullTxid}:${lostVout}:${last.sat_offset}`, value, script };
  }
  if (last.place === 2)
    return { place: 'unbound', satpoint: `${nullTxid}:0:${last.sat_offset}`, value, script };
  const txid = displayHash(last.txid ?? row.txid);
  return { place: 'output', satpoint: `${txid}:${last.vout ?? 0}:${last.sat_offset}`, value, script };
}

const opReturn = 0x6a;

function charmsNow(revealed: number, location: Location): number {
  let bits = revealed;
  if (location.place === 'lost') bits |= charms.lost;
  if (location.script?.[0] === opReturn) bits |= charms.burned;
  return bits;
}

async function delegateType(
  client: ClientBase,
  delegate: InscriptionId,
  ownType: string | null,
): Promise<string | null> {
  // the column is an integer: larger indexes, which delegates can claim, name nothing
  if (delegate.index >= 2 ** 31) return ownType;
  const { rows } = await client.query<{ content_type: Buffer | null }>(
    'SELECT content_type FROM chain.inscriptions WHERE txid = $1 AND index = $2',
    [delegate.txid, delegate.index],
  );
  const row = rows[0];
  return row === undefined ? ownType : utf8OrNull(row.content_type);
}

interface RelativeRow {
  relation: string;
  txid: Buffer;
  index: number;
  children: number;
  island_height: number;
  ordered: boolean;
}

interface Relatives {
  readonly parents: readonly InscriptionId[];
  readonly children: readonly InscriptionId[];
  readonly childCount: number;
  readonly previous: InscriptionId | null;
  readonly next: InscriptionId | null;
}

async function relativesOf(client: ClientBase, main: MainRow): Promise<Relatives> {
  const { rows } = await client.query<RelativeRow>(
    `WITH children AS (SELECT child_key FROM chain.parents WHERE parent_key = $1)
     SELECT listed.relation, i.txid, i.index, (SELECT count(*) FROM children) AS children,
       b.island_height, b.has_spent AND b.sequence IS NOT NULL AS ordered
     FROM (
       (SELECT 'parent' AS relation, parent_key AS key, position::integer AS place
        FROM chain.parents WHERE child_key = $1 ORDER BY position LIMIT $2)
       UNION ALL
       (SELECT 'child', child_key, child_key FROM children ORDER BY child_key LIMIT $2)
       UNION ALL
       VALUES ('previous', $1 - 1, 0), ('next', $1 + 1, 0)
     ) AS listed
     JOIN chain.inscriptions i ON i.key = listed.key
     JOIN chain.blocks b ON b.height = i.height
     ORDER BY listed.relation, listed.place`,
    [main.key, relativesShown],
  );
  const of = (relation: string): InscriptionId[] =>
    rows.filter((row) => row.relation === relation).map(({ txid, index }) => ({ txid, index }));
  // neighbours of the same run of blocks, where the order is that of ord
  const isOrdered = main.has_spent && main.sequenced;
  const neighbour = (relation: string): InscriptionId | null => {
    const row = rows.find((candidate) => candidate.relation === relation);
    const isNext = isOrdered && row?.ordered === true && row.island_height === main.island_height;
    return isNext ? { txid: row.txid, index: row.index } : null;
  };
  return {
    parents: of('parent'),
    children: of('child'),
    // a key with children has rows here
    childCount: rows[0]?.children ?? 0,
    previous: neighbour('previous'),
    next: neighbour('next'),
  };
}

/** Whether a transaction revealed an inscription that is indexed (its first one is `…i0`). */
export async function isReveal(db: pg.Pool | ClientBase, txid: Uint8Array): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM chain.inscriptions WHERE txid = $1 AND index = 0', [txid]);
  return rows.length > 0;
}

import type { ClientBase, Pool } from 'pg';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import { inscriptionKind } from '#kernel/events/event-kind.ts';
import { EventTextWriter } from '#kernel/events/event-text-writer.ts';
import { parseInscriptionLine } from '#kernel/events/parse-event-text.ts';
import { asBlockHash, type BlockHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { BlockEventText, StoredEventKind, TextRange } from './stored-event-kind.ts';

interface BlockRow {
  height: Height;
  hash: BlockHash;
  first_key: number;
  next_key: number;
  sequence: number | null;
  has_spent: boolean;
  is_known: boolean;
}

interface PlaceRow {
  place: number | null;
  txid: Txid | null;
  vout: number | null;
  sat_offset: number | null;
}

interface EventRow extends PlaceRow {
  height: Height;
  key: InscriptionKey;
  id_txid: Txid;
  id_index: number;
  is_new: boolean;
  number: number | null;
  charms: number | null;
  has_claimed: boolean;
  old_place: number | null;
  old_txid: Txid | null;
  old_vout: number | null;
  old_offset: number | null;
}

interface ParentRow {
  child_key: InscriptionKey;
  txid: Txid;
  index: number;
}

const places = { output: 0, lost: 1 } as const;

/** The kind of inscription events, with the functions that read its stored data. */
export const storedInscriptionKind: StoredEventKind = {
  ...inscriptionKind,
  firstHeight: (network) => network.firstInscriptionHeight,
  isKnownAt,
  readTexts: readInscriptionTexts,
  whyNotReadable,
  parseLine: parseInscriptionLine,
};

/** Rebuilds texts in three queries, for any number of blocks. Needs the database index `locations_spent`. */
async function readInscriptionTexts(
  client: ClientBase,
  network: NetworkName,
  { from, to, keep }: TextRange,
): Promise<BlockEventText[]> {
  await client.query(indexesOnly);
  const blocks = await readBlocks(client, from, to);
  const events = await readEvents(client, from, to, keysOf(blocks));
  const parents = await readParents(client, blocks);
  // no limit, because callers receive all texts, and the rows take more memory
  const out = new EventTextWriter(Number.POSITIVE_INFINITY);
  let at = 0;
  return blocks.map((block) => {
    out.begin(inscriptionKind, network, block, keep);
    const first = at;
    for (let row = events[at]; row !== undefined && row.height === block.height; row = events[++at]) {
      if (row.is_new) writeCreated(out, block, row, parents.get(row.key) ?? []);
      else writeTransferred(out, block, row);
    }
    return {
      ref: { height: block.height, hash: asBlockHash(Uint8Array.from(block.hash)) },
      isKnown: block.is_known,
      count: at - first,
      ...out.finish(),
    };
  });
}

/**
 * SQL: whether all effects of a row `b` of chain.blocks are known. An island stays anchored until a block with unknown
 * spent outputs reveals or moves inscriptions.
 */
const isBlockKnown = `b.anchored AND (b.has_spent OR b.tx_count <= 1 OR (b.next_key = b.first_key
  AND NOT EXISTS (SELECT FROM chain.locations WHERE spent_height = b.height)))`;

async function isKnownAt(client: ClientBase, height: Height): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM chain.blocks b WHERE height = $1 AND ${isBlockKnown}`,
    [height],
  );
  return rowCount === 1;
}

/**
 * The reason why texts cannot be read while the index is missing. Without the index, every page would read the whole
 * table.
 */
async function whyNotReadable(client: ClientBase | Pool): Promise<string | null> {
  const { rowCount } = await client.query(
    "SELECT WHERE to_regclass('chain.locations_spent') IS NULL AND EXISTS (SELECT FROM chain.outbox)",
  );
  return rowCount === 1 ? 'events are not available yet, because the first load is still running' : null;
}

async function readBlocks(client: ClientBase, from: Height, to: Height): Promise<BlockRow[]> {
  const { rows } = await client.query<BlockRow>(
    `SELECT height, hash, first_key, next_key, sequence, has_spent,
       ${isBlockKnown} AS is_known
     FROM chain.blocks b WHERE height BETWEEN $1 AND $2 ORDER BY height`,
    [from, to],
  );
  return rows;
}

/** Range of the keys of new inscriptions. */
interface KeyRange {
  readonly first: number;
  readonly end: number;
}

/** Returns the keys of the new inscriptions of blocks in ascending order. The keys increase from block to block. */
function keysOf(blocks: readonly BlockRow[]): KeyRange {
  return { first: blocks[0]?.first_key ?? 0, end: blocks.at(-1)?.next_key ?? 0 };
}

/**
 * Reads the events: each new inscription, and each location that ended. The destination of an ended location is the
 * next row with the same key. The range of keys is also in `chain.blocks`, but the planner does not know how few keys
 * a block has. Without the constants it reads the whole table for a few blocks.
 */
async function readEvents(client: ClientBase, from: Height, to: Height, keys: KeyRange): Promise<EventRow[]> {
  const { rows } = await client.query<EventRow>(
    `SELECT i.height, l.step, i.key, i.txid AS id_txid, i.index AS id_index, true AS is_new, i.number, i.charms,
       d.claimed_parents IS NOT NULL AS has_claimed,
       NULL::smallint AS old_place, NULL::bytea AS old_txid, NULL::integer AS old_vout, NULL::bigint AS old_offset,
       l.place, l.txid, l.vout, l.sat_offset
     FROM chain.blocks b
     JOIN chain.inscriptions i ON i.key >= b.first_key AND i.key < b.next_key
     LEFT JOIN chain.inscription_details d ON d.key = i.key
     LEFT JOIN LATERAL (
       SELECT step, place, txid, vout, sat_offset FROM chain.locations
       WHERE key = i.key AND height = i.height ORDER BY step LIMIT 1
     ) l ON true
     WHERE b.height BETWEEN $1 AND $2 AND i.key >= $3 AND i.key < $4
     UNION ALL
     SELECT r.spent_height, l.step, r.key, i.txid, i.index, false, NULL, NULL, false,
       r.place, r.txid, r.vout, r.sat_offset, l.place, l.txid, l.vout, l.sat_offset
     FROM chain.locations r
     JOIN chain.inscriptions i ON i.key = r.key
     LEFT JOIN LATERAL (
       SELECT step, place, txid, vout, sat_offset FROM chain.locations
       WHERE key = r.key AND height = r.spent_height AND (height > r.height OR step > r.step) ORDER BY step LIMIT 1
     ) l ON true
     WHERE r.spent_height BETWEEN $1 AND $2
     ORDER BY height, step NULLS LAST, key`,
    [from, to, keys.first, keys.end],
  );
  return rows;
}

/** The valid parents of all new inscriptions of some blocks, in order. */
async function readParents(
  client: ClientBase,
  blocks: readonly BlockRow[],
): Promise<Map<InscriptionKey, ParentRow[]>> {
  const parents = new Map<InscriptionKey, ParentRow[]>();
  const { first, end } = keysOf(blocks);
  if (first === end) return parents;
  const { rows } = await client.query<ParentRow>(
    `SELECT p.child_key, i.txid, i.index
     FROM chain.parents p JOIN chain.inscriptions i ON i.key = p.parent_key
     WHERE p.child_key >= $1 AND p.child_key < $2 ORDER BY p.child_key, p.position`,
    [first, end],
  );
  for (const row of rows) {
    const known = parents.get(row.child_key);
    if (known === undefined) parents.set(row.child_key, [row]);
    else known.push(row);
  }
  return parents;
}

function writeCreated(
  out: EventTextWriter,
  block: BlockRow,
  row: EventRow,
  parents: readonly ParentRow[],
): void {
  out.created(row.id_txid, 0, row.id_index, sequenceOf(block, row.key), row.number, row.charms);
  writePlace(out, row, row.id_txid);
  out.next();
  if (row.has_claimed && !block.is_known) out.unknown();
  else if (parents.length === 0) out.none();
  else parents.forEach(({ txid, index }, position) => out.parent(position, txid, 0, index));
  out.endLine();
}

function writeTransferred(out: EventTextWriter, block: BlockRow, row: EventRow): void {
  out.transferred(row.id_txid, 0, row.id_index, sequenceOf(block, row.key));
  const { old_place: place, old_txid: txid, old_vout: vout, old_offset: satOffset } = row;
  writePlace(out, { place, txid, vout, sat_offset: satOffset }, row.id_txid);
  out.next();
  writePlace(out, row, row.id_txid);
  out.endLine();
}

function writePlace(out: EventTextWriter, row: PlaceRow, reveal: Txid): void {
  if (row.place === null) out.unknown();
  else if (row.place === places.output)
    out.inOutput(row.txid ?? reveal, 0, row.vout ?? 0, row.sat_offset ?? 0);
  else if (row.place === places.lost) out.lost();
  else out.none();
}

/**
 * The sequence number of an inscription. On an unanchored chain only the numbers of inscriptions in the block itself
 * can be proven, so other numbers are not looked up.
 */
function sequenceOf(block: BlockRow, key: InscriptionKey): number | null {
  if (block.is_known) return key;
  const { first_key: first, next_key: next, sequence, has_spent: hasSpent } = block;
  if (sequence === null || key < first || !(hasSpent || next - first === 1)) return null;
  return sequence - next + key;
}

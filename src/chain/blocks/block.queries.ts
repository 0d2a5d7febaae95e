import type pg from 'pg';
import { isCursed } from '#chain/snapshot/cursed-expression.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import {
  type InscriptionId,
  inscriptionIdBytes,
  inscriptionIdFromBytes,
} from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { asSats, type Sats } from '#kernel/primitives/sats.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';

/** A block and its known data. docs/schema.md describes what follows from each field. */
export interface BlockFacts {
  readonly height: Height;
  /** Hash in internal order. */
  readonly hash: BlockHash;
  /** Unix seconds, from the header. */
  readonly time: number;
  readonly sizeBytes: number;
  readonly txCount: number;
  readonly inscriptionCount: number;
  /** First height of the run of consecutive blocks that the block belongs to. */
  readonly islandHeight: Height;
  /** True if all earlier blocks that can matter to inscriptions are known. */
  readonly anchored: boolean;
  /** True if the outputs that the block spends are known. */
  readonly hasSpent: boolean;
  /**
   * True if its sequence numbers are known, because the block is anchored or the totals before its island are proven.
   */
  readonly sequenced: boolean;
  /** True if all of its inscription numbers are known. */
  readonly numbered: boolean;
}

/** An inscription in a list, with the fields of a card. */
export interface InscriptionSummary {
  readonly id: InscriptionId;
  readonly key: InscriptionKey;
  readonly height: Height;
  readonly number: number | null;
  readonly contentId: number | null;
  /** Content type of the inscription or of its delegate, as text. `null` if there is none, or if it is not UTF-8. */
  readonly contentType: string | null;
  /**
   * Whether its content is a document that runs scripts. `null` if it is no document, or if its beginning is not
   * enough.
   */
  readonly runs: boolean | null;
  /** Size of the inscription's own body, in bytes. */
  readonly sizeBytes: number | null;
  /** The beginning of the inscription's text. `null` for other types. */
  readonly text: string | null;
}

interface BlockRow {
  height: Height;
  hash: BlockHash;
  time: number;
  size_bytes: number;
  tx_count: number;
  inscriptions: number;
  island_height: Height;
  anchored: boolean;
  has_spent: boolean;
  sequenced: boolean;
  numbered: boolean;
  first_key: number;
}

const blockColumns = `height, hash, time, size_bytes, tx_count, next_key - first_key AS inscriptions,
  island_height, anchored, has_spent, sequence IS NOT NULL AS sequenced,
  blessed IS NOT NULL AND cursed IS NOT NULL AS numbered, first_key`;

function blockFacts(row: BlockRow): BlockFacts {
  return {
    height: row.height,
    hash: row.hash,
    time: row.time,
    sizeBytes: row.size_bytes,
    txCount: row.tx_count,
    inscriptionCount: row.inscriptions,
    islandHeight: row.island_height,
    anchored: row.anchored,
    hasSpent: row.has_spent,
    sequenced: row.sequenced,
    numbered: row.numbered,
  };
}

/** Blocks at or below a height, highest first. If the height is `null`, from the tip down. */
export async function blocksBelow(
  db: pg.Pool | pg.ClientBase,
  height: Height | null,
  limit: number,
): Promise<BlockFacts[]> {
  const { rows } = await db.query<BlockRow>(
    `SELECT ${blockColumns} FROM chain.blocks
     WHERE height <= coalesce($1, 2147483647) ORDER BY height DESC LIMIT $2`,
    [height, limit],
  );
  return rows.map(blockFacts);
}

export type BlockQuestion =
  | { readonly kind: 'height'; readonly height: Height }
  | { readonly kind: 'hash'; readonly hash: BlockHash };

export interface BlockWithKeys extends BlockFacts {
  readonly firstKey: number;
}

/** The block at a height or with a hash. `null` if it is not indexed. */
export async function blockAt(
  db: pg.Pool | pg.ClientBase,
  question: BlockQuestion,
): Promise<BlockWithKeys | null> {
  const { rows } =
    question.kind === 'height'
      ? await db.query<BlockRow>(`SELECT ${blockColumns} FROM chain.blocks WHERE height = $1`, [
          question.height,
        ])
      : await db.query<BlockRow>(`SELECT ${blockColumns} FROM chain.blocks WHERE hash = $1`, [question.hash]);
  const row = rows[0];
  return row === undefined ? null : { ...blockFacts(row), firstKey: row.first_key };
}

/** The nearest indexed blocks below and above a height, however far away. `null` if there is no block on that side. */
export async function neighbourHeights(
  db: pg.Pool | pg.ClientBase,
  height: Height,
): Promise<{ readonly previous: Height | null; readonly next: Height | null }> {
  const { rows } = await db.query<{ previous: Height | null; next: Height | null }>(
    `SELECT (SELECT height FROM chain.blocks WHERE height < $1 ORDER BY height DESC LIMIT 1) AS previous,
            (SELECT height FROM chain.blocks WHERE height > $1 ORDER BY height LIMIT 1) AS next`,
    [height],
  );
  return rows[0] ?? { previous: null, next: null };
}

/** Maximum bytes of a text that a card can show. */
const snippetBytes = 400;
/**
 * Number of bytes of a document that are searched for scripts. If they contain no script, it is unknown whether a
 * longer document has one.
 */
const documentBytes = 16_384;
/**
 * SQL: whether a content is a document, and whether it contains code that browsers run. Such code is in scripts, event
 * handlers and URLs.
 */
const isDocument = `encode(shown.content_type, 'escape') ~* '^\\s*(text/html|application/xhtml\\+xml|image/svg\\+xml)\\s*(;|$)'`;
const hasScripts = `encode(substring(s.body FROM 1 FOR ${documentBytes}), 'escape') ~* '<script|[[:space:]/"'']on[a-z]+[[:space:]]*=|javascript:'`;

interface SummaryRow {
  key: InscriptionKey;
  txid: Txid;
  index: number;
  height: Height;
  number: number | null;
  content_id: number | null;
  content_type: Buffer | null;
  size_bytes: number | null;
  head: Buffer | null;
  runs: boolean | null;
  /** 36 bytes. */
  delegate: Buffer | null;
}

/** SQL: the shown part of a content `s`, whose type is the type of `shown`. */
const shownColumns = `shown.content_type,
       CASE WHEN s.text <> 0 AND s.variant & 7 = 0 THEN substring(s.body FROM 1 FOR ${snippetBytes}) END AS head,
       CASE WHEN s.variant & 7 = 0 AND ${isDocument} THEN
         CASE WHEN ${hasScripts} THEN true WHEN length(s.body) <= ${documentBytes} THEN false END END AS runs`;

/** Inscriptions by internal key, in the given order. Unknown keys are omitted. */
export async function inscriptionSummaries(
  db: pg.Pool | pg.ClientBase,
  keys: readonly InscriptionKey[],
): Promise<InscriptionSummary[]> {
  const { rows } = await db.query<SummaryRow>(
    `SELECT shown.key, shown.txid, shown.index, shown.height, shown.number, shown.content_id, d.delegate,
       length(s.body) AS size_bytes, ${shownColumns}
     FROM unnest($1::integer[]) WITH ORDINALITY AS asked(key, place)
     JOIN chain.inscriptions shown ON shown.key = asked.key
     LEFT JOIN chain.contents s ON s.content_id = shown.content_id
     LEFT JOIN chain.inscription_details d ON d.key = shown.key
     ORDER BY asked.place`,
    [keys],
  );
  const delegates = await shownByDelegates(
    db,
    rows.flatMap(({ delegate }) => delegate ?? []),
  );
  return rows.map((row) => {
    const shown = row.delegate === null ? row : delegates.get(row.delegate.toString('hex'));
    return {
      id: { txid: row.txid, index: row.index },
      key: row.key,
      height: row.height,
      number: row.number,
      contentId: row.content_id,
      contentType: utf8OrNull(shown?.content_type ?? null),
      runs: shown?.runs ?? null,
      sizeBytes: row.size_bytes,
      text: shown?.head == null ? null : wholeCharacters(shown.head),
    };
  });
}

type ShownRow = Pick<SummaryRow, 'content_type' | 'head' | 'runs'>;

/**
 * The contents of delegates, by the hex of the delegate's 36 bytes. The database is read only if there are delegates,
 * because most inscriptions have none.
 */
async function shownByDelegates(
  db: pg.Pool | pg.ClientBase,
  delegates: readonly Buffer[],
): Promise<Map<string, ShownRow>> {
  // the column is an integer; delegates can claim larger indexes, but no inscription has them
  const ids = delegates.map(inscriptionIdFromBytes).filter(({ index }) => index < 2 ** 31);
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<ShownRow & InscriptionId>(
    `SELECT shown.txid, shown.index, ${shownColumns}
     FROM unnest($1::bytea[], $2::integer[]) AS asked(txid, index)
     JOIN chain.inscriptions shown ON shown.txid = asked.txid AND shown.index = asked.index
     LEFT JOIN chain.contents s ON s.content_id = shown.content_id`,
    [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  );
  return new Map(rows.map((row) => [Buffer.from(inscriptionIdBytes(row)).toString('hex'), row]));
}

/**
 * Types and contents of the newest inscriptions that have their own content, newest first. The caller selects from
 * them.
 */
export async function newestInscriptions(
  db: pg.Pool | pg.ClientBase,
  limit: number,
): Promise<{ key: InscriptionKey; contentId: number | null; contentType: string | null }[]> {
  const { rows } = await db.query<{
    key: InscriptionKey;
    content_id: number | null;
    content_type: Buffer | null;
  }>(
    `SELECT i.key, i.content_id, i.content_type FROM chain.inscriptions i
     LEFT JOIN chain.inscription_details d ON d.key = i.key AND d.delegate IS NOT NULL
     WHERE i.content_id IS NOT NULL AND d.key IS NULL
     ORDER BY i.key DESC LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({
    key: row.key,
    contentId: row.content_id,
    contentType: utf8OrNull(row.content_type),
  }));
}

export interface ChainCounts {
  readonly inscriptions: number;
  readonly blocks: number;
  /** Number of runs of consecutive blocks. More than one run means a chain with gaps. */
  readonly islands: number;
  /** Totals of blessed and cursed inscriptions. `null` if they are unknown, because the chain has gaps. */
  readonly blessed: number | null;
  readonly cursed: number | null;
  readonly lostSats: Sats | null;
}

/** Totals at the tip. The query reads one row per island, not one per block. */
export async function chainCounts(db: pg.Pool | pg.ClientBase): Promise<ChainCounts> {
  const { rows } = await db.query<{
    next_key: number;
    blessed: number | null;
    cursed: number | null;
    lost_sats: Sats | null;
    blocks: number;
    islands: number;
  }>(
    `WITH RECURSIVE runs(top, bottom) AS (
       (SELECT height, island_height FROM chain.blocks ORDER BY height DESC LIMIT 1)
       UNION ALL
       SELECT below.height, below.island_height FROM runs, LATERAL (
         SELECT height, island_height FROM chain.blocks
         WHERE height < runs.bottom ORDER BY height DESC LIMIT 1
       ) AS below
     )
     SELECT tip.next_key, tip.blessed, tip.cursed, tip.lost_sats, counted.blocks, counted.islands
     FROM (SELECT * FROM chain.blocks ORDER BY height DESC LIMIT 1) AS tip,
       (SELECT sum(top - bottom + 1)::bigint AS blocks, count(*) AS islands FROM runs) AS counted`,
  );
  const row = rows[0];
  if (row === undefined) {
    return { inscriptions: 0, blocks: 0, islands: 0, blessed: null, cursed: null, lostSats: null };
  }
  const { next_key: inscriptions, blocks, islands, blessed, cursed, lost_sats: lostSats } = row;
  return { inscriptions, blocks, islands, blessed, cursed, lostSats };
}

/** Totals that are certain. */
export interface CertainTotals {
  readonly blessed: number;
  readonly cursed: number;
  readonly lostSats: Sats;
}

/** Maximum number of inscriptions that are counted one by one, which takes some tenths of a second. */
const countedMax = 1_000_000;

/**
 * Certain totals of a chain with gaps, whose real totals are unknown. They are the inscriptions among the first million
 * that are certainly blessed or cursed, and the lost sats up to the last block where they are known. Call it once per
 * tip.
 */
export async function certainTotals(client: pg.ClientBase): Promise<CertainTotals> {
  const { rows } = await client.query<{ blessed: number; cursed: number; lost_sats: Sats }>(
    `SELECT count(*) FILTER (WHERE NOT is_cursed) AS blessed, count(*) FILTER (WHERE is_cursed) AS cursed,
       coalesce((SELECT lost_sats FROM chain.blocks WHERE lost_sats IS NOT NULL ORDER BY height DESC LIMIT 1), 0) AS lost_sats
     FROM (SELECT ${isCursed('i')} AS is_cursed FROM chain.inscriptions i WHERE key < $1) AS counted`,
    [countedMax],
  );
  const { blessed = 0, cursed = 0, lost_sats: lostSats = asSats(0) } = rows[0] ?? {};
  return { blessed, cursed, lostSats };
}

/** Decodes the beginning of a UTF-8 text. A character that the cut divides is left out. */
function wholeCharacters(head: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(head, { stream: true });
}

import type pg from 'pg';
import type { ClientBase } from 'pg';
import { spacedRuneOf } from '#chain/runes/rune.queries.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type InscriptionId, inscriptionIdFromBytes } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { withSatCharms } from '#kernel/sats/notation.ts';
import type { Sat } from '#kernel/sats/sat.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { noRelatives, type Relatives, relativesOf } from './inscription-relatives.queries.ts';
import { currentLocations, type Location, shownCharms, storedCharms } from './location.queries.ts';

export type InscriptionQuestion =
  | { readonly kind: 'id'; readonly id: InscriptionId }
  | { readonly kind: 'number'; readonly number: number }
  /** The first inscription on a sat. */
  | { readonly kind: 'sat'; readonly sat: Sat };

export interface InscriptionDetail {
  readonly id: InscriptionId;
  /** Order of application. It is ord's sequence number on an anchored chain. */
  readonly key: InscriptionKey;
  readonly number: number | null;
  readonly height: Height;
  readonly blockHash: BlockHash;
  /** Unix seconds of the block's header. */
  readonly timestamp: number;
  readonly anchored: boolean;
  readonly hasSpent: boolean;
  readonly sequenced: boolean;
  readonly numbered: boolean;
  readonly txIndex: number;
  readonly input: number;
  /** Text if it is UTF-8, as in ord; otherwise null. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly contentId: number | null;
  /** Length of the stored body. `null` if there is no body. */
  readonly contentLength: number | null;
  readonly contentHash: Uint8Array | null;
  /**
   * Content type of the delegate; `null` if the delegate has no type. If the inscription names no known delegate, its
   * own content type.
   */
  readonly effectiveContentType: string | null;
  readonly delegate: InscriptionId | null;
  readonly metaprotocol: string | null;
  readonly curse: number | null;
  /** Charms as ord shows them now. They come from the reveal and the sat; burned and lost come from the location. */
  readonly charms: number | null;
  /** Charms as ord stores them and shows them on pages of inscriptions. They do not contain a loss after the reveal. */
  readonly storedCharms: number | null;
  readonly fee: Sats | null;
  /**
   * The rune that the reveal transaction etched, if this is the first inscription of that transaction. `null` if there
   * is no rune, or if it is unknown.
   */
  readonly rune: SpacedRune | null;
  readonly location: Location | null;
  /** The sat of the inscription. `null` if it has none, or if this server has no index of sats. */
  readonly sat: Sat | null;
  /** Valid parents, in order. `null` if their validity is unknown. */
  readonly parents: readonly InscriptionId[] | null;
  /** The first children. `childCount` is the number of known children; it is `null` while they are being counted. */
  readonly children: readonly InscriptionId[];
  readonly childCount: number | null;
  /** True if no missing block can contain more children. */
  readonly hasAllChildren: boolean;
  /** Neighbours by sequence number. `null` at the first and last inscription, and if the order is unknown. */
  readonly previous: InscriptionId | null;
  readonly next: InscriptionId | null;
}

interface MainRow {
  key: InscriptionKey;
  txid: Txid;
  index: number;
  height: Height;
  tx_index: number;
  input: number;
  number: number | null;
  curse: number | null;
  charms: number | null;
  fee: Sats | null;
  content_type: Buffer | null;
  sha256: Buffer | null;
  size_bytes: number | null;
  content_encoding: Buffer | null;
  metaprotocol: Buffer | null;
  delegate: Buffer | null;
  claims_parents: boolean;
  block_hash: BlockHash;
  time: number;
  anchored: boolean;
  has_spent: boolean;
  sequenced: boolean;
  numbered: boolean;
  content_id: number | null;
  island_height: Height;
  tip_island_height: Height;
  rune: string | null;
  spacers: number | null;
  sat: Sat | null;
}

function askedBy(question: InscriptionQuestion): { where: string; values: unknown[] } {
  switch (question.kind) {
    case 'id':
      return { where: 'txid = $1 AND index = $2', values: [question.id.txid, question.id.index] };
    case 'number':
      return { where: 'number = $1', values: [question.number] };
    case 'sat':
      return {
        where: 'key = (SELECT key FROM chain.sats WHERE sat = $1 ORDER BY key LIMIT 1)',
        values: [question.sat],
      };
    default:
      return unreachable(question);
  }
}

/** The key of an inscription. `null` if it is not indexed. */
export async function inscriptionKey(
  client: ClientBase,
  question: InscriptionQuestion,
): Promise<InscriptionKey | null> {
  const { where, values } = askedBy(question);
  const { rows } = await client.query<{ key: InscriptionKey }>({
    name: `inscription_key_by_${question.kind}`,
    text: `SELECT key FROM chain.inscriptions WHERE ${where}`,
    values,
  });
  return rows[0]?.key ?? null;
}

/** All names of an inscription. */
export interface InscriptionName extends InscriptionId {
  readonly key: InscriptionKey;
  readonly number: number | null;
}

/** The names of an inscription. `null` if it is not indexed. */
export async function inscriptionName(
  client: ClientBase,
  question: InscriptionQuestion,
): Promise<InscriptionName | null> {
  const { where, values } = askedBy(question);
  const { rows } = await client.query<InscriptionName>(
    `SELECT key, txid, index, number FROM chain.inscriptions WHERE ${where}`,
    values,
  );
  return rows[0] ?? null;
}

/** Keys of inscriptions in the order of their ids. A key is null if the inscription is not indexed. */
export async function inscriptionKeys(
  db: pg.Pool | ClientBase,
  ids: readonly InscriptionId[],
): Promise<(InscriptionKey | null)[]> {
  const { rows } = await db.query<{ key: InscriptionKey | null }>({
    name: 'inscription_keys_by_id',
    text: `SELECT i.key FROM unnest($1::bytea[], $2::integer[]) WITH ORDINALITY AS asked(txid, index, place)
     LEFT JOIN chain.inscriptions i ON i.txid = asked.txid AND i.index = asked.index
     ORDER BY asked.place`,
    values: [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  });
  return rows.map(({ key }) => key);
}

/** Keys of inscriptions in the order of their numbers. A key is null if the inscription is not indexed. */
export async function inscriptionKeysOfNumbers(
  client: ClientBase,
  numbers: readonly number[],
): Promise<(InscriptionKey | null)[]> {
  const { rows } = await client.query<{ key: InscriptionKey | null }>({
    name: 'inscription_keys_by_number',
    text: `SELECT i.key FROM unnest($1::integer[]) WITH ORDINALITY AS asked(number, place)
     LEFT JOIN chain.inscriptions i ON i.number = asked.number
     ORDER BY asked.place`,
    values: [numbers],
  });
  return rows.map(({ key }) => key);
}

/** Ids of inscriptions in the order of their keys. Unknown keys are omitted. */
export async function inscriptionIds(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<InscriptionId[]> {
  const { rows } = await client.query<{ txid: Txid; index: number }>(
    `SELECT i.txid, i.index FROM unnest($1::integer[]) WITH ORDINALITY AS asked(key, place)
     JOIN chain.inscriptions i ON i.key = asked.key ORDER BY asked.place`,
    [keys],
  );
  return rows;
}

/** All known data of an inscription. `null` if it is not indexed. Makes six small reads, so run it in a snapshot. */
export async function inscriptionDetail(
  client: ClientBase,
  question: InscriptionQuestion,
): Promise<InscriptionDetail | null> {
  const key = await inscriptionKey(client, question);
  return key === null ? null : ((await inscriptionDetails(client, [key])).get(key) ?? null);
}

/** All known data of inscriptions, by key. Makes five reads for any number, so run it in a snapshot. */
export async function inscriptionDetails(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<Map<InscriptionKey, InscriptionDetail>> {
  const asked = [...new Set(keys)];
  const rows = await mainRows(client, asked);
  const locations = await currentLocations(client, asked);
  const relatives = await relativesOf(client, rows);
  const types = await delegateTypes(client, rows);
  return new Map(
    rows.map((row) => {
      const location = locations.get(row.key) ?? null;
      return [row.key, detailOf(row, location, relatives.get(row.key) ?? noRelatives, types)];
    }),
  );
}

function detailOf(
  row: MainRow,
  location: Location | null,
  relatives: Relatives,
  types: ReadonlyMap<string, string | null>,
): InscriptionDetail {
  const delegate = row.delegate === null ? null : inscriptionIdFromBytes(row.delegate);
  const ownType = utf8OrNull(row.content_type);
  const delegateType = row.delegate === null ? undefined : types.get(row.delegate.toString('hex'));
  const charms = withSatCharms(row.charms, row.sat);
  const knowsCharms = charms !== null && location !== null;
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
    effectiveContentType: delegateType === undefined ? ownType : delegateType,
    delegate,
    metaprotocol: utf8OrNull(row.metaprotocol),
    curse: row.curse,
    charms: knowsCharms ? shownCharms(charms, location) : null,
    storedCharms: knowsCharms ? storedCharms(charms, location) : null,
    fee: row.fee,
    rune: row.rune === null ? null : spacedRuneOf({ rune: row.rune, spacers: row.spacers ?? 0 }),
    location,
    sat: row.sat,
    parents: knowsParents(row) ? relatives.parents : null,
    children: relatives.children,
    childCount: relatives.childCount,
    hasAllChildren: isFollowedToTip(row),
    previous: relatives.previous,
    next: relatives.next,
  };
}

/**
 * Whether the valid parents are known. Claims can be checked only if the whole history is indexed. An inscription
 * without claims has no parents (docs/schema.md).
 */
function knowsParents(row: MainRow): boolean {
  return !row.claims_parents || (row.anchored && row.has_spent);
}

function isFollowedToTip(row: MainRow): boolean {
  return row.anchored && row.has_spent && row.island_height === row.tip_island_height;
}

async function mainRows(client: ClientBase, keys: readonly InscriptionKey[]): Promise<MainRow[]> {
  const { rows } = await client.query<MainRow>({
    // prepared once per connection, because planning takes longer than the query itself
    name: 'inscriptions_by_key',
    text: `SELECT i.key, i.txid, i.index, i.height, i.tx_index, i.input, i.number, i.curse, i.charms, i.fee,
       i.content_type, i.content_id, c.sha256, length(c.body) AS size_bytes,
       d.content_encoding, d.metaprotocol, d.delegate,
       d.claimed_parents IS NOT NULL AS claims_parents, b.hash AS block_hash, b.time, b.anchored, b.has_spent,
       b.sequence IS NOT NULL AS sequenced,
       b.blessed IS NOT NULL AND b.cursed IS NOT NULL AS numbered, b.island_height,
       (SELECT island_height FROM chain.blocks ORDER BY height DESC LIMIT 1) AS tip_island_height,
       u.rune::text AS rune, u.spacers, s.sat
     FROM unnest($1::integer[]) AS asked(key)
     JOIN chain.inscriptions i ON i.key = asked.key
     JOIN chain.blocks b ON b.height = i.height
     LEFT JOIN chain.contents c ON c.content_id = i.content_id
     LEFT JOIN chain.inscription_details d ON d.key = i.key
     LEFT JOIN chain.runes u ON i.index = 0 AND u.height = i.height AND u.tx_index = i.tx_index
     LEFT JOIN chain.sats s ON s.key = i.key`,
    values: [keys],
  });
  return rows;
}

/** Content types of the indexed delegates, by the hex of the delegate's 36 bytes. */
async function delegateTypes(
  client: ClientBase,
  rows: readonly MainRow[],
): Promise<Map<string, string | null>> {
  const named = rows.flatMap(({ delegate }) => delegate ?? []);
  // the column is an integer; delegates can claim larger indexes, but no inscription has them
  const ids = named.map(inscriptionIdFromBytes).filter(({ index }) => index < 2 ** 31);
  if (ids.length === 0) return new Map();
  const { rows: found } = await client.query<{ txid: Txid; index: number; content_type: Buffer | null }>(
    `SELECT i.txid, i.index, i.content_type FROM unnest($1::bytea[], $2::integer[]) AS asked(txid, index)
     JOIN chain.inscriptions i ON i.txid = asked.txid AND i.index = asked.index`,
    [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  );
  const bytes = Buffer.alloc(4);
  return new Map(
    found.map((row) => {
      bytes.writeUInt32LE(row.index);
      return [Buffer.concat([row.txid, bytes]).toString('hex'), utf8OrNull(row.content_type)];
    }),
  );
}

/** An inscription's metadata as canonical JSON, of any length. `null` if it has no metadata. */
export async function metadataJson(client: ClientBase, key: InscriptionKey): Promise<string | null> {
  const { rows } = await client.query<{ json: Buffer }>(
    `SELECT m.json FROM chain.inscriptions i
     JOIN chain.metadata_texts m ON m.metadata_id = i.metadata_id WHERE i.key = $1`,
    [key],
  );
  return rows[0]?.json.toString('utf8') ?? null;
}

/**
 * The raw metadata of an inscription. `bytes` is `null` if it has no metadata. The result is `null` if the inscription
 * is not indexed.
 */
export async function rawMetadata(
  client: ClientBase,
  { txid, index }: InscriptionId,
): Promise<{ bytes: Buffer | null } | null> {
  const { rows } = await client.query<{ bytes: Buffer | null }>(
    `SELECT d.metadata AS bytes FROM chain.inscriptions i
     LEFT JOIN chain.inscription_details d ON d.key = i.key
     WHERE i.txid = $1 AND i.index = $2`,
    [txid, index],
  );
  return rows[0] ?? null;
}

/** Whether a transaction revealed an indexed inscription. The first inscription of a transaction is `…i0`. */
export async function isReveal(db: pg.Pool | ClientBase, txid: Txid): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM chain.inscriptions WHERE txid = $1 AND index = 0', [txid]);
  return rows.length > 0;
}

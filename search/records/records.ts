import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { LookupRecord, SearchRecord } from '#kernel/contracts/search-service.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { cutText, decodedStart, isEncoded } from '#search/text/stored-text.ts';

/** Number of bytes of its texts that a record shows. */
export interface ShownBytes {
  readonly content: number;
  readonly metadata: number;
}

/** Maximum UTF-8 bytes shown per record in a list (docs/search.md, "Records"). */
export const listBytes: ShownBytes = { content: 4096, metadata: 65_536 };
/**
 * Maximum bytes of metadata in a page. Ten such answers must fit in memory at once, and JSON takes up to six times as
 * much.
 */
const metadataPageBytes = 16 * 1024 * 1024;

/** Number of bytes shown per record in a page of this size. The larger the page, the less metadata per record. */
export function listBytesOf(itemsPerPage: number): ShownBytes {
  const metadata = Math.min(listBytes.metadata, Math.floor(metadataPageBytes / itemsPerPage));
  return { content: listBytes.content, metadata };
}
/** Exceeds the length of every text in a block, and of every text derived from it. */
export const wholeBytes = 2 ** 30;
/** Factor from shown bytes to read bytes of an encoded body. It is enough for all but contrived bodies. */
const encodedFactor = 4;

/** Number of bytes to read from an encoded body, to show `bytes` of its decoded text. */
export const encodedBytes = (bytes: number): number => Math.min(bytes * encodedFactor, wholeBytes);

interface RecordRow {
  key: InscriptionKey;
  txid: Txid;
  index: number;
  input: number;
  number: number | null;
  height: Height;
  parsed_at: Date;
  content_type: Buffer | null;
  content_id: number | null;
  sha256: Buffer | null;
  variant: number | null;
  is_text: boolean | null;
  size_bytes: number | null;
  decoded_length: number | null;
  content: Buffer | null;
  metadata: Buffer | null;
}

// the `+ 1` byte shows whether a text ends at the limit or is cut
const readRecords = `
  SELECT i.key, i.txid, i.index, i.input, i.number, i.height, b.parsed_at, i.content_type, i.content_id,
         c.sha256, c.variant, c.text <> 0 AS is_text, octet_length(c.body) AS size_bytes, c.decoded_length,
         CASE WHEN c.text <> 0 AND $2::integer > 0
              THEN substring(c.body FROM 1 FOR CASE WHEN c.variant & 7 = 0 THEN $2 ELSE $3::integer END) END AS content,
         CASE WHEN $4::integer > 0 THEN substring(m.json FROM 1 FOR $4) END AS metadata
    FROM unnest($1::integer[]) WITH ORDINALITY AS wanted (key, place)
    JOIN chain.inscriptions AS i USING (key)
    JOIN chain.blocks AS b USING (height)
    LEFT JOIN chain.contents AS c USING (content_id)
    LEFT JOIN chain.metadata_texts AS m USING (metadata_id)
   ORDER BY wanted.place`;

/** The records of inscriptions by key, in the given order. If a limit is 0, the text is not read and is null. */
export async function recordsOfKeys(
  client: pg.ClientBase,
  keys: readonly InscriptionKey[],
  shown: ShownBytes = listBytes,
): Promise<SearchRecord[]> {
  if (keys.length === 0) return [];
  const content = shown.content === 0 ? 0 : shown.content + 1;
  const encoded = encodedBytes(content);
  const metadata = shown.metadata === 0 ? 0 : shown.metadata + 1;
  const { rows } = await client.query<RecordRow>({
    name: 'search-records',
    text: readRecords,
    values: [keys, content, encoded, metadata],
  });
  const records: SearchRecord[] = [];
  for (const row of rows) {
    const text = await shownText(row, shown.content, () => readBody(client, row));
    records.push(recordOf(row, text, shown.metadata));
  }
  return records;
}

function recordOf(row: RecordRow, contentstr: string | null, metadataBytes: number): SearchRecord {
  return {
    txid: displayHash(row.txid),
    inputindex: String(row.input),
    inscriptionid: formatInscriptionId(row.txid, row.index),
    inscriptionnumber: row.number === null ? null : String(row.number),
    blockheight: String(row.height),
    contentstr,
    contenttypestr: contentType(row.content_type),
    contenthash: row.sha256?.toString('hex') ?? null,
    contentlength: row.size_bytes === null ? null : String(row.size_bytes),
    metadatastr: row.metadata === null ? null : cutText(row.metadata, metadataBytes),
    createdat: row.parsed_at.toISOString(),
  };
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The content type as ord reads it. Null: not UTF-8. */
export function contentType(bytes: Buffer | null): string | null {
  if (bytes === null) return null;
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

/** A body as it was read. If it is long, only its beginning was read. */
interface ReadContent {
  readonly variant: number | null;
  readonly is_text: boolean | null;
  readonly size_bytes: number | null;
  readonly decoded_length: number | null;
  readonly content: Buffer | null;
}

/**
 * The text of a body (decoded if it is encoded), cut. Empty if the body is not text. Null if there is no body. Calls
 * `readWhole` if the beginning of an encoded body does not decode to enough.
 */
export async function shownText(
  row: ReadContent,
  bytesMax: number,
  readWhole: () => Promise<Buffer | null>,
): Promise<string | null> {
  if (row.size_bytes === null || bytesMax === 0) return null;
  if (row.is_text !== true || row.content === null) return '';
  const variant = row.variant ?? 0;
  if (!isEncoded(variant)) return cutText(row.content, bytesMax);
  // one byte more than is shown, to know where the text must be cut
  const wanted = Math.min(bytesMax + 1, row.decoded_length ?? 0);
  const start = await decodedStart(row.content, variant, wanted);
  const isEnough = start.length === wanted || row.content.length === row.size_bytes;
  if (isEnough) return cutText(start, bytesMax);
  return cutText(await decodedStart((await readWhole()) ?? Buffer.alloc(0), variant, wanted), bytesMax);
}

async function readBody(client: pg.ClientBase, row: RecordRow): Promise<Buffer | null> {
  const { rows } = await client.query<{ body: Buffer }>(
    'SELECT body FROM chain.contents WHERE content_id = $1',
    [row.content_id],
  );
  return rows[0]?.body ?? null;
}

interface OwnerRow {
  key: InscriptionKey;
  /** Hex digits. */
  body: string | null;
  place: number | null;
  spent_height: Height | null;
  script: Buffer | null;
  network: NetworkName;
}

/** The record of one inscription with its whole body and its owner. Null: not indexed. */
export async function lookUpRecord(client: pg.ClientBase, id: InscriptionId): Promise<LookupRecord | null> {
  const { rows } = await client.query<OwnerRow>(
    `SELECT i.key, encode(c.body, 'hex') AS body, l.place, l.spent_height, l.script, state.network
       FROM chain.inscriptions AS i
      CROSS JOIN chain.state AS state
       LEFT JOIN chain.contents AS c USING (content_id)
       LEFT JOIN LATERAL (
         SELECT place, spent_height, script FROM chain.locations
          WHERE locations.key = i.key ORDER BY height DESC, step DESC LIMIT 1) AS l ON true
      WHERE i.txid = $1 AND i.index = $2`,
    [Buffer.from(id.txid), id.index],
  );
  const row = rows[0];
  if (row === undefined) return null;
  const [record] = await recordsOfKeys(client, [row.key], {
    content: wholeBytes - 1,
    metadata: wholeBytes - 1,
  });
  if (record === undefined) throw new Error(`inscription ${row.key} has no record`);
  return { ...record, owner: ownerOf(row), content: row.body };
}

/**
 * The address of the output that holds the inscription. Null: unknown, not an output, or a script without an address.
 */
function ownerOf({ place, spent_height, script, network }: OwnerRow): string | null {
  if (place !== 0 || spent_height !== null || script === null) return null;
  return scriptToAddress(script, networks[network]);
}

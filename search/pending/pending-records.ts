import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { LookupRecord, SearchRecord } from '#kernel/contracts/search-service.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import {
  contentType,
  encodedBytes,
  listBytes,
  type ShownBytes,
  shownText,
  wholeBytes,
} from '#search/records/records.ts';
import { cutText } from '#search/text/stored-text.ts';
import type { PendingRef } from './pending-matcher.ts';

interface PendingRow {
  txid: Txid;
  index: number;
  input: number;
  first_seen: Date;
  content_type: Buffer | null;
  sha256: Buffer | null;
  variant: number | null;
  is_text: boolean | null;
  size_bytes: number | null;
  decoded_length: number | null;
  content: Buffer | null;
  metadata: Buffer | null;
  position: number;
}

// as in search/records/records.ts: the `+ 1` byte shows whether a text ends at the limit or is cut
const readRecords = `
  SELECT i.txid, i.index, i.input, i.first_seen, i.content_type, i.sha256, i.variant, i.text <> 0 AS is_text,
         octet_length(i.body) AS size_bytes, i.decoded_length, i.position,
         CASE WHEN i.text <> 0 AND $3::integer > 0
              THEN substring(i.body FROM 1 FOR CASE WHEN i.variant & 7 = 0 THEN $3 ELSE $4::integer END) END AS content,
         CASE WHEN $5::integer > 0 THEN substring(i.metadata_json FROM 1 FOR $5) END AS metadata
    FROM unnest($1::bigint[], $2::integer[]) WITH ORDINALITY AS wanted (position, index, place)
    JOIN chain.pending_inscriptions AS i USING (position, index)
   ORDER BY wanted.place`;

/** The records of pending inscriptions in the given order: without height and number, with `pending`. */
export async function recordsOfPending(
  client: pg.ClientBase,
  refs: readonly PendingRef[],
  shown: ShownBytes = listBytes,
): Promise<SearchRecord[]> {
  if (refs.length === 0) return [];
  const content = shown.content + 1;
  const { rows } = await client.query<PendingRow>(readRecords, [
    refs.map(({ position }) => position),
    refs.map(({ index }) => index),
    content,
    encodedBytes(content),
    shown.metadata + 1,
  ]);
  const records: SearchRecord[] = [];
  for (const row of rows) {
    const contentstr = await shownText(row, shown.content, () => readBody(client, row));
    records.push({
      txid: displayHash(row.txid),
      inputindex: String(row.input),
      inscriptionid: formatInscriptionId(row.txid, row.index),
      inscriptionnumber: null,
      blockheight: null,
      contentstr,
      contenttypestr: contentType(row.content_type),
      contenthash: row.sha256?.toString('hex') ?? null,
      contentlength: row.size_bytes === null ? null : String(row.size_bytes),
      metadatastr: row.metadata === null ? null : cutText(row.metadata, shown.metadata),
      createdat: row.first_seen.toISOString(),
      pending: 'true',
    });
  }
  return records;
}

async function readBody(client: pg.ClientBase, { position, index }: PendingRow): Promise<Buffer | null> {
  const { rows } = await client.query<{ body: Buffer | null }>(
    'SELECT body FROM chain.mempool_inscriptions WHERE position = $1 AND index = $2',
    [position, index],
  );
  return rows[0]?.body ?? null;
}

/** The record of one pending inscription, with its body and its future owner. Null: it is not pending. */
export async function lookUpPending(client: pg.ClientBase, id: InscriptionId): Promise<LookupRecord | null> {
  const { rows } = await client.query<
    PendingRef & { body: Buffer | null; script: Buffer | null; network: NetworkName }
  >(
    `SELECT i.position, i.index, i.body, i.script, state.network
       FROM chain.pending_inscriptions AS i CROSS JOIN chain.state AS state
      WHERE i.txid = $1 AND i.index = $2`,
    [Buffer.from(id.txid), id.index],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const [record] = await recordsOfPending(client, [row], {
    content: wholeBytes - 1,
    metadata: wholeBytes - 1,
  });
  if (record === undefined) throw new Error('a pending inscription has no record');
  const owner = row.script === null ? null : scriptToAddress(row.script, networks[row.network]);
  return { ...record, owner, content: row.body?.toString('hex') ?? null };
}

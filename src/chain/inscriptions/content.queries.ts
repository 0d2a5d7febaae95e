import assert from 'node:assert/strict';
import type pg from 'pg';
import { readCopyBytes } from '#kernel/pg/copy-read.ts';
import { type InscriptionId, inscriptionIdFromBytes } from '#kernel/primitives/inscription-id.ts';

/** A stored body, without its bytes. */
export interface StoredBody {
  /** Id of the content. `null` if the body belongs to a pending inscription, which is in no block yet. */
  readonly contentId: number | null;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
}

/** The stored content of an inscription, without the body. */
export interface StoredContent {
  /** The raw content type of the envelope. `null` if it has none. */
  readonly contentType: Uint8Array | null;
  /** The raw content encoding of the envelope. `null` if it has none. */
  readonly contentEncoding: Uint8Array | null;
  /** The body. `null` if the envelope has none. */
  readonly body: StoredBody | null;
}

export type ContentLookup =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'delegate-unknown'; readonly delegate: InscriptionId }
  | { readonly kind: 'found'; readonly content: StoredContent };

interface ContentRow {
  content_type: Buffer | null;
  content_encoding: Buffer | null;
  delegate: Buffer | null;
  content_id: number | null;
  sha256: Buffer | null;
  size_bytes: number | null;
}

/**
 * The content that an inscription shows: its delegate's if it names one, otherwise its own. A delegate's own delegate
 * is not followed. If the delegate is unknown, there is no content, even if the inscription has a body (ord
 * src/subcommand/server/r.rs `content`). Pending inscriptions are included, which ord does not show.
 */
export async function findContent(db: pg.Pool | pg.ClientBase, id: InscriptionId): Promise<ContentLookup> {
  const own = (await contentRow(db, id)) ?? (await pendingRow(db, id));
  if (own === null) return { kind: 'unknown' };
  if (own.delegate === null) return { kind: 'found', content: storedContent(own) };
  const delegate = inscriptionIdFromBytes(own.delegate);
  const shown = await contentRow(db, delegate);
  if (shown === null) return { kind: 'delegate-unknown', delegate };
  return { kind: 'found', content: storedContent(shown) };
}

/** The content of an inscription itself, ignoring its delegate. `null` if the inscription is not indexed. */
export async function ownContent(
  db: pg.Pool | pg.ClientBase,
  id: InscriptionId,
): Promise<StoredContent | null> {
  const row = await contentRow(db, id);
  return row === null ? null : storedContent(row);
}

// the column is an integer; delegates can claim larger indexes, but no inscription has them
const maxIndex = 2 ** 31 - 1;

async function contentRow(db: pg.Pool | pg.ClientBase, id: InscriptionId): Promise<ContentRow | null> {
  if (id.index > maxIndex) return null;
  const { rows } = await db.query<ContentRow>(
    `SELECT i.content_type, d.content_encoding, d.delegate, i.content_id, c.sha256, length(c.body) AS size_bytes
     FROM chain.inscriptions i
     LEFT JOIN chain.inscription_details d ON d.key = i.key
     LEFT JOIN chain.contents c ON c.content_id = i.content_id
     WHERE i.txid = $1 AND i.index = $2`,
    [id.txid, id.index],
  );
  return rows[0] ?? null;
}

/** The content of a pending inscription, which is in no block, from the mempool's tables. */
async function pendingRow(db: pg.Pool | pg.ClientBase, id: InscriptionId): Promise<ContentRow | null> {
  if (id.index > maxIndex) return null;
  const { rows } = await db.query<ContentRow>(
    `SELECT content_type, content_encoding, delegate, NULL AS content_id, sha256, octet_length(body) AS size_bytes
     FROM chain.pending_inscriptions WHERE txid = $1 AND index = $2`,
    [id.txid, id.index],
  );
  return rows[0] ?? null;
}

function storedContent(row: ContentRow): StoredContent {
  const { content_id: contentId, sha256, size_bytes: sizeBytes } = row;
  return {
    contentType: row.content_type,
    contentEncoding: row.content_encoding,
    body: sha256 === null || sizeBytes === null ? null : { contentId, sizeBytes, sha256 },
  };
}

/** Bytes of a body: `count` of them, from the offset `from` on. */
export interface BodyPart {
  readonly from: number;
  readonly count: number;
}

/**
 * Reads a part of a stored body. Bodies are stored uncompressed and out of line, in chunks of 2 kB, so only the chunks
 * of the part are read. Returns `null` if a reorganisation removed the body after the look-up. Later bodies get the
 * same ids again, so the id may then also belong to another body.
 */
export async function readBodyPart(
  client: pg.ClientBase,
  { contentId, sha256 }: StoredBody,
  { from, count }: BodyPart,
): Promise<Buffer | null> {
  // a COPY accepts no parameters, so check that the values in its text are integers and hex
  assert(
    [contentId ?? 0, from, count].every(Number.isSafeInteger),
    'a part of a body is bounded by integers',
  );
  const hex = `'\\x${Buffer.from(sha256).toString('hex')}'::bytea`;
  const stored =
    contentId === null
      ? `chain.mempool_inscriptions WHERE sha256 = ${hex} LIMIT 1`
      : `chain.contents WHERE content_id = ${contentId} AND sha256 = ${hex}`;
  return readCopyBytes(client, `SELECT substring(body FROM ${from + 1} FOR ${count}) FROM ${stored}`);
}

/** Whether an indexed inscription has a content with this sha256, stored or decoded. */
export async function isContentHash(client: pg.ClientBase, sha256: Uint8Array): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM chain.contents WHERE sha256 = $1)
         OR EXISTS (SELECT FROM chain.contents WHERE decoded_sha256 = $1) AS found`,
    [Buffer.from(sha256)],
  );
  return rows[0]?.found ?? false;
}

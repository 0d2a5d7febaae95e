import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';

/** A published document of reserves. */
export interface ReservesDocument {
  /** SHA-256 of the document. */
  readonly hash: Uint8Array;
  readonly block: BlockRef;
  readonly madeAt: Date;
  /** The exact text of the document. It must not change, because signatures cover its bytes. */
  readonly document: string;
  /** Values of the signature headers, which are the same as for webhooks. */
  readonly signed: { readonly id: string; readonly timestamp: number; readonly signatures: string };
}

/** A document with all responses that belong to it. */
export interface PublishedReserves extends ReservesDocument {
  /** JSON texts of the pages, starting with page 1. */
  readonly pages: readonly string[];
  /** JSON texts of accounts. */
  readonly accounts: readonly { readonly account: string; readonly body: string }[];
}

/**
 * Maximum number of documents to keep. A reader of the pages has time until this many new blocks are found, which is
 * seldom less than half an hour.
 */
const documentsKept = 3;

/** Publishes a document, and deletes the oldest documents. */
export async function publishReserves(tx: pg.ClientBase, made: PublishedReserves): Promise<void> {
  const { block, signed, pages, accounts } = made;
  const hash = Buffer.from(made.hash);
  await tx.query(
    `INSERT INTO service.token_reserves
       (hash, height, block_hash, made_at, document, signature_id, signed_at, signatures)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      hash,
      block.height,
      Buffer.from(block.hash),
      made.madeAt,
      made.document,
      signed.id,
      signed.timestamp,
      signed.signatures,
    ],
  );
  await tx.query(
    `INSERT INTO service.token_reserve_pages (hash, page, body)
     SELECT $1, page, body FROM unnest($2::text[]) WITH ORDINALITY AS p (body, page)`,
    [hash, pages],
  );
  await tx.query(
    `INSERT INTO service.token_reserve_accounts (hash, account, body)
     SELECT $1, account, body FROM unnest($2::text[], $3::text[]) AS a (account, body)`,
    [hash, accounts.map(({ account }) => account), accounts.map(({ body }) => body)],
  );
  await tx.query(
    `DELETE FROM service.token_reserves
      WHERE hash NOT IN (SELECT hash FROM service.token_reserves ORDER BY made_at DESC LIMIT $1)`,
    [documentsKept],
  );
}

/** The block of the last document. Returns null if no document exists. */
export async function lastReservesBlock(client: pg.ClientBase): Promise<BlockHash | null> {
  const { rows } = await client.query<{ hash: BlockHash }>(
    'SELECT block_hash AS hash FROM service.token_reserves ORDER BY made_at DESC LIMIT 1',
  );
  return rows[0]?.hash ?? null;
}

/**
 * Reads a document by its hash, or the last document if `hash` is null. Returns null if the document is no longer kept,
 * or if there is no document yet.
 */
export async function readReserves(
  client: pg.Pool | pg.ClientBase,
  hash: Uint8Array | null,
): Promise<ReservesDocument | null> {
  const { rows } = await client.query<
    Omit<ReservesDocument, 'block' | 'signed'> &
      BlockRefRow & { id: string; timestamp: string; signatures: string }
  >(
    `SELECT hash, height, block_hash, made_at AS "madeAt", document, signature_id AS id,
            signed_at::text AS timestamp, signatures
       FROM service.token_reserves WHERE $1::bytea IS NULL OR hash = $1 ORDER BY made_at DESC LIMIT 1`,
    [hash],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { height, block_hash: blockHash, id, timestamp, signatures, ...document } = row;
  return {
    ...document,
    block: { height, hash: blockHash },
    signed: { id, timestamp: Number(timestamp), signatures },
  };
}

interface BlockRefRow {
  readonly height: BlockRef['height'];
  readonly block_hash: BlockHash;
}

/** A page with outputs of a document. Returns null if the page does not exist. */
export async function readReservesPage(
  client: pg.Pool | pg.ClientBase,
  hash: Uint8Array,
  page: number,
): Promise<string | null> {
  const { rows } = await client.query<{ body: string }>(
    'SELECT body FROM service.token_reserve_pages WHERE hash = $1 AND page = $2',
    [Buffer.from(hash), page],
  );
  return rows[0]?.body ?? null;
}

/** The text with an account's proofs in a document. Returns null if the account neither held nor owed anything. */
export async function readReservesAccount(
  client: pg.Pool | pg.ClientBase,
  hash: Uint8Array,
  account: string,
): Promise<string | null> {
  const { rows } = await client.query<{ body: string }>(
    'SELECT body FROM service.token_reserve_accounts WHERE hash = $1 AND account = $2',
    [Buffer.from(hash), account],
  );
  return rows[0]?.body ?? null;
}

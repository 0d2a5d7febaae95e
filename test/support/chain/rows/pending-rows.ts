import { createHash } from 'node:crypto';
import type pg from 'pg';
import { pendingPlaces } from '#indexer/mempool/pending/pending-place.ts';
import type { PendingInscription } from '#indexer/mempool/pending/pending-transaction.ts';
import {
  clearPending,
  insertPending,
  type PendingRows,
  writeState,
} from '#indexer/mempool/store/pending.store.ts';
import { hashKey } from '#indexer/mempool/stream/membership.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';
import type { TestContent, TestInscription } from '#test/support/search/search-rows.ts';

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/**
 * The pending rows of an inscription that is the first one of its own transaction, as the mempool's store expects them.
 */
export function pendingRows(txid: Uint8Array, position: number, inscription: TestInscription): PendingRows {
  return {
    transaction: {
      txid: hashKey(txid),
      position,
      vsize: 200,
      outpoints: new Uint8Array(36),
      made: [],
      runes: null,
      sizeBytes: inscription.content?.body.length ?? 0,
      replaces: [],
      entry: { fee: asSats(1000), firstSeen: 1_767_323_045_678 },
      block: null,
    },
    moves: { inscriptions: [rowOf(inscription)], transfers: [], made: [] },
    runes: null,
    sales: [],
    seenAt: 0,
  };
}

function rowOf({ content, metadata }: TestInscription): PendingInscription {
  const json = metadata === null ? null : Buffer.from(metadata);
  const jsonFolded = json === null ? null : foldUtf8(json);
  return {
    index: 0,
    input: 0,
    contentType: content === null ? null : Buffer.from(content.type),
    content: content === null ? null : contentOf(content),
    metadataJson: json,
    metadataFolded: jsonFolded === null ? null : Buffer.from(jsonFolded),
    contentEncoding: null,
    metaprotocol: null,
    delegate: null,
    claimedParents: null,
    title: null,
    traits: null,
    gallery: null,
    placed: { place: pendingPlaces.unknown, output: null, satOffset: null },
  };
}

function contentOf({ body, text, encoding = 0, decoded }: TestContent): PendingInscription['content'] {
  const searched = text === null ? null : Buffer.from(text);
  const folded = searched === null ? null : foldUtf8(searched);
  const isAsItIs = folded === null && encoding === 0;
  const stored =
    searched === null
      ? { text: 0, folded: null }
      : isAsItIs
        ? { text: 1, folded: null }
        : { text: 2, folded: Buffer.from(folded ?? searched) };
  return {
    sha256: sha256(body),
    variant: encoding + (searched === null ? 0 : 8),
    ...stored,
    body: Buffer.from(body),
    decodedSha256: decoded === undefined ? null : sha256(decoded),
    decodedLength: decoded?.length ?? null,
  };
}

/** Replaces the pending transactions with these, in a followed mempool. */
export async function setPending(pool: pg.Pool, rows: readonly PendingRows[]): Promise<void> {
  await withTransaction(pool, async (tx) => {
    await clearPending(tx);
    await insertPending(tx, rows);
    await writeState(
      tx,
      {
        source: 'zmq',
        reveals: 'untested',
        transactions: rows.length,
        kept: rows.length,
        leftOut: 0,
        keptBytes: 0,
        since: new Date(),
      },
      { isFirst: true, isChanged: true },
    );
  });
}

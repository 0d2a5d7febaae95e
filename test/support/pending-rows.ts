import { createHash } from 'node:crypto';
import type pg from 'pg';
import { hashKey } from '#indexer/mempool/membership.ts';
import { clearPending, insertPending, type PendingRows, writeState } from '#indexer/mempool/pending.store.ts';
import { pendingPlaces } from '#indexer/mempool/pending-place.ts';
import type { PendingInscription } from '#indexer/mempool/pending-transaction.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { foldUtf8 } from '#kernel/text/fold.ts';
import type { TestInscription } from './search-rows.ts';

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** The first inscription of a transaction of its own, as the store of the mempool takes it. */
export function pendingRows(txid: Uint8Array, position: number, inscription: TestInscription): PendingRows {
  return {
    transaction: {
      txid: hashKey(txid),
      position,
      vsize: 200,
      outpoints: new Uint8Array(36),
      made: [],
      sizeBytes: inscription.content?.body.length ?? 0,
      payments: [],
      replaces: [],
      entry: { fee: 1000, firstSeen: 1_767_323_045_678 },
      block: null,
    },
    moves: { inscriptions: [rowOf(inscription)], transfers: [], made: [] },
    seenAt: 0,
  };
}

function rowOf({ content, metadata }: TestInscription): PendingInscription {
  const searched = content?.text === null || content === null ? null : Buffer.from(content.text);
  const folded = searched === null ? null : foldUtf8(searched);
  const isEncoded = (content?.encoding ?? 0) !== 0;
  const text = searched === null ? 0 : folded === null && !isEncoded ? 1 : 2;
  const json = metadata === null ? null : Buffer.from(metadata);
  const jsonFolded = json === null ? null : foldUtf8(json);
  return {
    index: 0,
    input: 0,
    contentType: content === null ? null : Buffer.from(content.type),
    content:
      content === null
        ? null
        : {
            sha256: sha256(content.body),
            variant: (content.encoding ?? 0) + (searched === null ? 0 : 8),
            text,
            body: Buffer.from(content.body),
            folded: text === 2 ? Buffer.from(folded ?? searched ?? []) : null,
            decodedSha256: content.decoded === undefined ? null : sha256(content.decoded),
            decodedLength: content.decoded?.length ?? null,
          },
    metadataJson: json,
    metadataFolded: jsonFolded === null ? null : Buffer.from(jsonFolded),
    contentEncoding: null,
    metaprotocol: null,
    delegate: null,
    claimedParents: null,
    placed: { place: pendingPlaces.unknown, output: null, satOffset: null },
  };
}

/** Makes these the pending transactions, followed now. */
export async function setPending(pool: pg.Pool, rows: readonly PendingRows[]): Promise<void> {
  await withTransaction(pool, async (tx) => {
    await clearPending(tx);
    await insertPending(tx, rows);
    await writeState(
      tx,
      {
        source: 'zmq',
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

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type Collection, lockCollection } from '#collections/collection/collection.store.ts';
import type { CollectionFile } from '#collections/collection/files.store.ts';
import { insertItems } from '#collections/collection/items.store.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { requirePending, wrongFiles } from './approval-errors.ts';
import { readFacts, slugFaults } from './approval-facts.ts';
import {
  type ApprovalFault,
  type ApprovalOptions,
  contentFaults,
  type SizeDifference,
  sizeDifferences,
  termFaults,
} from './approval-faults.ts';
import type { ContentsDisk } from './contents-disk.ts';
import { type FetchParts, fetchFiles } from './fetch-files.ts';
import type { MarketListing } from './market-listing.ts';
import { forgetContents } from './stored-files.store.ts';

export interface ApprovalParts extends FetchParts {
  readonly market: MarketListing;
  /** Called before anything is fetched, with the number of missing files. */
  readonly onMissing: (files: number) => void;
}

export interface Approved {
  readonly collection: string;
  readonly items: number;
  readonly files: number;
  readonly bytes: number;
  /** Number of files that this run fetched. */
  readonly fetched: number;
  readonly differences: readonly SizeDifference[];
}

/**
 * Approves a collection. The files that are on disk at the time of the approval will be sold. Missing files are fetched
 * first, and all faults are reported together. A collection with a fault is not approved. Throws `mint_unknown`,
 * `mint_decided`, `mint_files_wrong` and `mint_disk_full`.
 */
export async function approveCollection(
  parts: ApprovalParts,
  id: string,
  options: ApprovalOptions,
): Promise<Approved> {
  const fetched = await prepareApproval(parts, id, options);
  const approved = await withTransaction(parts.pool, (tx) => approveIn(tx, parts.market, id, options));
  return { ...approved, fetched };
}

/**
 * The part of an approval before its transaction: checks the terms, and fetches missing files. Returns the number of
 * fetched files. Throws the errors of `approveCollection`.
 */
export async function prepareApproval(
  parts: ApprovalParts,
  id: string,
  options: ApprovalOptions,
): Promise<number> {
  const { pool } = parts;
  const facts = await readFacts(pool, id);
  requirePending(facts.collection);
  const faults = [...(await slugFaults(parts.market, pool, id)), ...termFaults(facts)];
  const lost = await lostContents(parts.disk, facts.files);
  await forgetContents(
    pool,
    id,
    lost.map(({ place }) => place),
  );
  const lostPlaces = new Set(lost.map(({ place }) => place));
  const missing = facts.files.filter(({ place, stored }) => stored === null || lostPlaces.has(place));
  const gone = lost.filter(({ url }) => url === null).map(lostFault);
  if (faults.length + gone.length > 0) throw wrongFiles(id, [...faults, ...gone]);
  parts.onMissing(missing.length);
  const fetched = await fetchFiles(parts, id, missing, options);
  const { files } = await readFacts(pool, id);
  const found = [...fetched.faults, ...contentFaults(files, options)];
  if (found.length > 0) throw wrongFiles(id, found, fetched.untried);
  return missing.length;
}

/** Maximum number of files whose presence on the disk is checked at the same time. */
const looksAtOnce = 16;

/**
 * Files whose contents are marked as stored in the database, but are missing on the disk. This happens if the disk was
 * lost, or restored from an older copy.
 */
async function lostContents(
  disk: ContentsDisk,
  files: readonly CollectionFile[],
): Promise<readonly CollectionFile[]> {
  const lost: CollectionFile[] = [];
  await inLanes(files, looksAtOnce, async (file) => {
    const { stored } = file;
    if (stored !== null && (await disk.bytesOf(stored.sha256)) !== stored.bytes) lost.push(file);
  });
  return lost;
}

const lostFault = ({ name }: CollectionFile): ApprovalFault => ({
  where: name,
  why: 'was uploaded, but is now missing on the disk of files; upload it again with satscribe mint upload',
});

/**
 * The transaction of an approval. Checks everything again, because files, phases and slug may have changed meanwhile.
 */
export async function approveIn(
  tx: pg.ClientBase,
  market: MarketListing,
  id: string,
  options: ApprovalOptions,
): Promise<Omit<Approved, 'fetched'>> {
  await lockCollection(tx, id);
  const facts = await readFacts(tx, id);
  const { collection, files } = facts;
  requirePending(collection);
  const faults = [...termFaults(facts), ...files.flatMap(missingFault), ...contentFaults(files, options)];
  if (faults.length > 0) throw wrongFiles(id, faults);
  if (!(await market.open(tx, collection))) throw wrongFiles(id, await slugFaults(market, tx, id));
  await tx.query(
    `UPDATE service.mint_collections SET state = 'approved', decided_at = now(), client = NULL WHERE id = $1`,
    [id],
  );
  await insertItems(tx, id, itemsOf(collection, files));
  return {
    collection: id,
    items: collection.totalCount,
    files: files.length,
    bytes: files.reduce((sum, { stored }) => sum + (stored?.bytes ?? 0), 0),
    differences: sizeDifferences(files),
  };
}

const missingFault = ({ name, stored }: CollectionFile): readonly ApprovalFault[] =>
  stored === null
    ? [{ where: name, why: 'was changed during the approval; approve the collection again' }]
    : [];

/**
 * Assigns a file to each item, or the single file of an edition to all items. The order in which items are drawn is
 * random, so no one can predict it.
 */
function itemsOf(
  { totalCount }: Pick<Collection, 'totalCount'>,
  files: readonly Pick<CollectionFile, 'place'>[],
): { readonly file: number; readonly draw: number }[] {
  const random = randomBytes(4 * totalCount);
  return Array.from({ length: totalCount }, (_, item) => {
    const file = files[item] ?? files[0];
    assert(file !== undefined, 'an approved collection has a file');
    return { file: file.place, draw: random.readInt32LE(4 * item) };
  });
}

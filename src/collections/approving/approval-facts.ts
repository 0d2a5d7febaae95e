import type pg from 'pg';
import { type Collection, readCollection } from '#collections/collection/collection.store.ts';
import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { readFiles } from '#collections/collection/files.store.ts';
import { readListedPhases } from '#collections/collection/phases.store.ts';
import { unknownMint } from './approval-errors.ts';
import type { ApprovalFacts, ApprovalFault } from './approval-faults.ts';
import type { MarketListing } from './market-listing.ts';

/**
 * Reads the data that decides an approval, including all files. There are at most 100,000 files. Throws `mint_unknown`.
 */
export async function readFacts(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<ApprovalFacts & { readonly collection: Collection }> {
  const collection = await readCollection(client, id);
  if (collection === null) throw unknownMint(id);
  const phases = await readListedPhases(client, id);
  const files = await readFiles(client, id, { after: null, limit: collectionBounds.items });
  return { collection, phases, files };
}

/** Returns the fault of the slug if the market cannot use it. Empty if the slug is free. */
export async function slugFaults(
  market: MarketListing,
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<readonly ApprovalFault[]> {
  const problem = await market.slugProblem(client, id);
  return problem === null ? [] : [{ where: 'id', why: problem }];
}

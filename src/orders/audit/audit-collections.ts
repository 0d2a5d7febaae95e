import { setTimeout as sleep } from 'node:timers/promises';
import { differingRows, soldCollections } from '#collections/selling/sold-rows.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { snapshot } from './at-one-block.ts';
import { type AuditParts, lookAgainMs, looksUsual } from './audit-orders.ts';
import { type AuditedCollectionOrder, faultsOfCollectionOrder } from './collection-order-faults.ts';
import { nextCollectionOrders } from './collection-orders.queries.ts';
import type { CollectionDifferenceKind } from './differences.ts';

/**
 * A difference between the numbers stored for a collection and the numbers that follow from its rows, its orders and
 * their ledger.
 */
export interface CollectionDifference {
  readonly collection: string;
  readonly kind: CollectionDifferenceKind;
  /** The phase or order that differs, in a form for people. Null if the whole collection differs. */
  readonly where: string | null;
  /** Number of items. For `earned`, number of sats. */
  readonly noted: bigint;
  readonly found: bigint;
}

type CollectionAuditParts = Pick<AuditParts, 'database' | 'signal' | 'rest' | 'looks'>;

/**
 * Makes three comparisons: the counters of collections with their items and orders, the items with the states of
 * orders, and the earnings of creators with prices and the ledger. A collection that differs is checked again, because
 * its orders may be in the middle of a step. Asks no node, and changes nothing.
 */
export async function auditCollections(parts: CollectionAuditParts): Promise<CollectionDifference[]> {
  const { database, signal, looks = looksUsual } = parts;
  let differing = await withTransaction(database, soldCollections, snapshot);
  let differences: CollectionDifference[] = [];
  for (let look = 0; look < Math.max(1, Math.min(looks, looksUsual)) && differing.length > 0; look++) {
    if (look > 0) await sleep(lookAgainMs, undefined, signal === undefined ? {} : { signal });
    differences = [];
    for (const collection of differing) differences.push(...(await auditCollection(parts, collection)));
    differing = [...new Set(differences.map(({ collection }) => collection))];
  }
  return differences;
}

/**
 * Whether a difference may be intended. A creator may list fewer items for an address than the address has paid for.
 * Such a difference is reported, but does not make the service unhealthy.
 */
export const mayBeMeant = ({ kind }: Pick<CollectionDifference, 'kind'>): boolean => kind === 'allowance';

async function auditCollection(
  { database, signal, rest }: CollectionAuditParts,
  collection: string,
): Promise<CollectionDifference[]> {
  const startedAt = performance.now();
  const rows = await withTransaction(database, (tx) => differingRows(tx, collection), snapshot);
  const differences = rows.map(({ noted, found, ...row }): CollectionDifference => {
    return { collection, ...row, noted: BigInt(noted), found: BigInt(found) };
  });
  await rest?.(performance.now() - startedAt);
  for (let after: string | null = null; ; ) {
    signal?.throwIfAborted();
    const pageAt = performance.now();
    const from: string | null = after;
    const page: AuditedCollectionOrder[] = await withTransaction(
      database,
      (tx) => nextCollectionOrders(tx, collection, from),
      snapshot,
    );
    after = page.at(-1)?.id ?? null;
    if (after === null) return differences;
    for (const fault of page.flatMap(faultsOfCollectionOrder)) differences.push({ collection, ...fault });
    await rest?.(performance.now() - pageAt);
  }
}

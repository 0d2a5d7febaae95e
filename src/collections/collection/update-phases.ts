import type pg from 'pg';
import { namePhases } from '#collections/reading/name-phases.ts';
import { findPhaseFaults } from '#collections/reading/phase-faults.ts';
import type { SentPhase } from '#collections/reading/read-phases.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';
import { type Collection, lockCollection } from './collection.store.ts';
import { type ListedPhase, readListedPhases, readOrderedPhases, replacePhases } from './phases.store.ts';

export interface PhasesUpdate {
  readonly id: string;
  /** All phases of the collection after the change. */
  readonly phases: readonly SentPhase[];
  /** Whether the sender may change this collection. */
  readonly mayChange: (collection: Collection) => boolean;
}

/**
 * Result of a change. `unknown`: there is no collection with this id. `foreign`: the sender may not change this
 * collection.
 */
export type UpdatedPhases =
  | { readonly kind: 'updated'; readonly collection: Collection; readonly phases: readonly ListedPhase[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'foreign' }
  | Faulty;

/**
 * Replaces the phases of a collection and their lists for future orders. Existing orders keep their terms. No items are
 * sold during the change, so that no phase gets fewer items than its orders have.
 */
export async function updatePhases(
  tx: pg.ClientBase,
  { id, phases, mayChange }: PhasesUpdate,
): Promise<UpdatedPhases> {
  const collection = await lockCollection(tx, id);
  if (collection === null) return { kind: 'unknown' };
  if (!mayChange(collection)) return { kind: 'foreign' };
  const values = new RequestValues();
  if (collection.state !== 'pending' && collection.state !== 'approved')
    values.sentence('id', `The collection is ${collection.state}, so its phases can no longer be changed.`);
  findPhaseFaults(values, phases, {
    totalCount: collection.totalCount,
    price: collection.price,
    hasCreatorAddress: collection.creatorAddress !== null,
    isInRunes: collection.altPrices !== null,
  });
  const known = await readListedPhases(tx, id);
  findSoldFaults(values, phases, known, await readOrderedPhases(tx, id));
  if (values.faults.length > 0) return { kind: 'faulty', faults: values.faults };
  await replacePhases(
    tx,
    id,
    namePhases(
      phases,
      known.map(({ phase }) => phase),
    ),
  );
  return { kind: 'updated', collection, phases: await readListedPhases(tx, id) };
}

/** Collects faults of changes that would take items from existing orders. Pure. */
function findSoldFaults(
  values: RequestValues,
  phases: readonly SentPhase[],
  known: readonly ListedPhase[],
  ordered: ReadonlySet<string>,
): void {
  const sent = new Map(phases.map((phase, place) => [phase.phase, { ...phase, place }]));
  for (const { phase, taken } of known) {
    const now = sent.get(phase);
    if (now === undefined && ordered.has(phase))
      values.sentence(
        'phases',
        `Phase ${phase} must stay, because orders bought items from it. Send the phase with its id. To end the phase, set its endDate.`,
      );
    if (now !== undefined && now.items !== null && now.items < taken)
      values.fault(
        `phases[${now.place}].inscriptionsCount`,
        `is ${now.items}, but ${taken} items of phase ${phase} are already sold or reserved`,
      );
  }
}

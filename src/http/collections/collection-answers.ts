import type { Collection } from '#collections/collection/collection.store.ts';
import type { NewCollection } from '#collections/collection/insert-collection.store.ts';
import type { ListedPhase } from '#collections/collection/phases.store.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { DeliveredItem } from '#orders/collections/delivered-items.queries.ts';

/** A time as responses show it, in seconds since 1970. */
const secondsOf = (moment: Date | null): number | null => (moment === null ? null : moment.getTime() / 1000);

/** A flag in the form of the public interface. */
export const flagOf = (is: boolean): 0 | 1 => (is ? 1 : 0);

interface ShownPhase
  extends Pick<ListedPhase, 'phase' | 'items' | 'isPublic' | 'price' | 'startsAt' | 'endsAt'> {
  /** Number of addresses in the phase's list. */
  readonly listed: number;
}

/** The view of a phase. Its list is left out, because it contains addresses of customers. */
const phaseAnswer = (
  { phase, items, isPublic, price, startsAt, endsAt, listed }: ShownPhase,
  usual: bigint,
) => ({
  id: phase,
  inscriptionsCount: items,
  isPublic: flagOf(isPublic),
  price: Number(price ?? usual),
  startDate: secondsOf(startsAt),
  endDate: secondsOf(endsAt),
  allowListCount: listed,
});

/** The response to a creation. It has everything that was sent, except the lists of addresses. */
export function createdAnswer(sent: NewCollection, createdAt: Date) {
  const { id, name, shown, totalCount, price, creator, inRunes, keyHash, files, phases } = sent;
  const told = files.flatMap(({ bytes }) => bytes ?? []);
  return {
    status: 'ok' as const,
    id,
    name,
    ...shown,
    totalCount,
    price: Number(price),
    ...(creator === null ? {} : { 'creator-address': creator.address }),
    ...(inRunes === null ? {} : { altPrices: inRunes.shown }),
    ...(keyHash === null ? {} : { apikeyhash: keyHash.toString('hex') }),
    files: files.map(({ name: of, url, bytes }) => ({
      name: of,
      url,
      ...(bytes === null ? {} : { size: bytes }),
    })),
    phases: phases.map((phase) => phaseAnswer({ ...phase, listed: phase.allowances.length }, price)),
    averageSize:
      told.length === 0 ? 0 : Math.round(told.reduce((sum, bytes) => sum + bytes, 0) / told.length),
    inscribedCount: 0,
    active: false,
    createdAt: createdAt.getTime(),
  };
}

/** Data of a collection that is not in its database row. */
export interface CollectionFacts {
  readonly phases: readonly ListedPhase[];
  /** Number of items that were delivered. */
  readonly inscribed: number;
  /** Average number of bytes of an item. `null` if unknown. */
  readonly averageBytes: number | null;
  /** Sats per item that the service charges in addition to its base fee. */
  readonly serviceFee: number;
}

/** The view of a collection that everyone may see. */
export function collectionAnswer(collection: Collection, facts: CollectionFacts) {
  const { phases, inscribed, averageBytes, serviceFee } = facts;
  const { id, name, shown, totalCount, price, creatorAddress, altPrices, state, taken, unpaid } = collection;
  return {
    status: 'ok' as const,
    id,
    name,
    ...shown,
    totalCount,
    price: Number(price),
    serviceFee,
    ...(creatorAddress === null ? {} : { 'creator-address': creatorAddress }),
    ...(altPrices === null ? {} : { altPrices }),
    averageSize: averageBytes ?? 0,
    inscribedCount: inscribed,
    soldCount: taken - unpaid,
    reservedCount: unpaid,
    availableCount: totalCount - taken,
    active: state === 'approved',
    phases: phases.map((phase) => ({
      ...phaseAnswer({ ...phase, listed: phase.allowances }, price),
      takenCount: phase.taken,
    })),
    createdAt: collection.createdAt.getTime(),
  };
}

/** The view of an item, in the form that marketplaces import. */
export function itemAnswer(name: string, { inscription, item }: DeliveredItem, isOnchainFormat: boolean) {
  const attributes = isOnchainFormat
    ? [{ trait_type: 'inscribed_by', value: 'Satscribe' }]
    : { inscribed_by: 'Satscribe' };
  return {
    id: formatInscriptionId(inscription.txid, inscription.index),
    meta: { name: `${name} #${item}`, attributes },
  };
}

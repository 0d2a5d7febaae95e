import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { readGivenList } from './given-lists.ts';
import { readAllowList, type SentAllowance } from './read-allow-list.ts';

/** A phase of a request. */
export interface SentPhase {
  /** Name of the phase. Null if the service chooses the name. */
  readonly phase: string | null;
  /** Maximum number of items that the phase sells. Null if the phase may sell all free items. */
  readonly items: number | null;
  readonly isPublic: boolean;
  /** Price of an item in sats, which the creator receives. Null if the collection's price applies. */
  readonly price: bigint | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
  readonly allowances: readonly SentAllowance[];
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/u;
/** Maximum time in seconds: the year 3000. A larger number is a time in milliseconds. */
const secondsMax = 32_503_680_000;

/** Reads the phases of a request. Returns an empty list if the request has no phases. */
export function* readPhases(
  values: RequestValues,
  given: unknown,
  network: NetworkParameters,
): Steps<readonly SentPhase[]> {
  const list = readGivenList(values, given, 'phases');
  if (list.length > collectionBounds.phases) {
    values.fault('phases', `are ${list.length}, but a collection has at most ${collectionBounds.phases}`);
    return [];
  }
  const phases: SentPhase[] = [];
  for (const [place, item] of list.entries()) {
    const field = `phases[${place}]`;
    const fields = values.object(item, field);
    if (fields !== null) phases.push(yield* readPhase(values, fields, field, network));
  }
  const names = phases.flatMap(({ phase }) => phase ?? []);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) values.sentence('phases', `phases has the id ${twice} twice.`);
  const listed = phases.reduce((sum, { allowances }) => sum + allowances.length, 0);
  if (listed > collectionBounds.allowances)
    values.fault(
      'phases',
      `list ${listed} addresses, but a collection has at most ${collectionBounds.allowances}`,
    );
  return phases;
}

function* readPhase(
  values: RequestValues,
  fields: Readonly<Record<string, unknown>>,
  field: string,
  network: NetworkParameters,
): Steps<SentPhase> {
  const allowances = yield* readAllowList(values, fields['allowList'], `${field}.allowList`, network);
  const isPublic = readPublic(values, fields['isPublic'], `${field}.isPublic`) ?? allowances.length === 0;
  if (isPublic && allowances.length > 0)
    values.sentence(
      `${field}.allowList`,
      `${field} is public, so everyone may buy. Leave out allowList, or send isPublic 0.`,
    );
  const startsAt = readMoment(values, fields['startDate'], `${field}.startDate`);
  const endsAt = readMoment(values, fields['endDate'], `${field}.endDate`);
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt)
    values.fault(`${field}.endDate`, `must be after ${field}.startDate`);
  return {
    phase: readName(values, fields['id'], `${field}.id`),
    items: readItems(values, fields['inscriptionsCount'], `${field}.inscriptionsCount`),
    isPublic,
    price: readPrice(values, fields['price'], `${field}.price`),
    startsAt,
    endsAt,
    allowances,
  };
}

function readName(values: RequestValues, given: unknown, name: string): string | null {
  const text = values.text(typeof given === 'number' ? String(given) : given, name);
  if (text === null || namePattern.test(text)) return text;
  return values.fault(name, 'must be 1 to 64 letters without accents, digits, - or _');
}

function readItems(values: RequestValues, given: unknown, name: string): number | null {
  const items = values.whole(given, name);
  if (items === null) return null;
  if (items < 1n || items > BigInt(collectionBounds.items))
    values.fault(
      name,
      `must be from 1 to ${collectionBounds.items}; leave it out to sell all items that are left`,
    );
  return Number(items);
}

/** Reads the price of an item in sats. Returns null if it is absent. */
export function readPrice(values: RequestValues, given: unknown, name: string): bigint | null {
  const price = values.whole(given, name);
  if (price !== null && price > BigInt(collectionBounds.price))
    values.fault(name, `must be at most ${collectionBounds.price} sats`);
  return price;
}

/** Reads whether a phase is public. Returns null if the value is absent or wrong. */
function readPublic(values: RequestValues, given: unknown, name: string): boolean | null {
  if (!isGiven(given)) return null;
  if (given === true || given === 1 || given === '1' || given === 'true') return true;
  if (given === false || given === 0 || given === '0' || given === 'false') return false;
  return values.fault(name, 'must be 0 or 1');
}

function readMoment(values: RequestValues, given: unknown, name: string): Date | null {
  // JSON can send null, but a form can send it only as a text
  const thousandths = values.thousandths(given === 'null' ? null : given, name);
  if (thousandths === null) return null;
  if (thousandths <= BigInt(secondsMax) * 1000n) return new Date(Number(thousandths));
  return values.fault(name, 'must be in seconds since 1970, not in milliseconds');
}

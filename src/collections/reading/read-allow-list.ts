import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { Steps } from '#kernel/concurrency/work-in-steps.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { isFields, isIndexed, readGivenList } from './given-lists.ts';

/** An address of a list. */
export interface SentAllowance {
  readonly script: Uint8Array;
  /** Maximum number of items that the address may pay for. Null if only the phase's own items limit the number. */
  readonly items: number | null;
}

/** Cost of parsing an address. It is given as the number of bytes whose work takes the same time (work-in-steps.ts). */
const addressBytes = 10 * 1024;

/** Reads the addresses of a list in a request. The list is one map, or a list of maps: `{address: {allocation}}`. */
export function* readAllowList(
  values: RequestValues,
  given: unknown,
  name: string,
  network: NetworkParameters,
): Steps<readonly SentAllowance[]> {
  const entries = entriesOf(values, given, name);
  if (entries.length > collectionBounds.allowances) {
    values.fault(
      name,
      `has ${entries.length} addresses, but a collection has at most ${collectionBounds.allowances}`,
    );
    return [];
  }
  const scripts = new Set<string>();
  const allowances: SentAllowance[] = [];
  for (const [address, value] of entries) {
    if (values.isFull) return [];
    yield addressBytes;
    const field = `${name}.${address.slice(0, shownChars)}`;
    const parsed = parseAddress(address, network);
    const items = readAllocation(values, value, field);
    if (parsed.kind === 'refused') {
      values.fault(field, parsed.reason);
      continue;
    }
    const hex = Buffer.from(parsed.script).toString('hex');
    if (scripts.has(hex)) values.fault(field, 'is in the list twice');
    scripts.add(hex);
    allowances.push({ script: parsed.script, items });
  }
  return allowances;
}

/** Maximum number of characters of an address in faults. No valid address is longer. */
const shownChars = 90;

function entriesOf(
  values: RequestValues,
  given: unknown,
  name: string,
): readonly (readonly [string, unknown])[] {
  if (!isGiven(given)) return [];
  if (isFields(given) && !isIndexed(given)) return Object.entries(given);
  return readGivenList(values, given, name).flatMap((map, place) => {
    if (isFields(map)) return Object.entries(map);
    values.fault(`${name}[${place}]`, 'must be an object whose keys are addresses');
    return [];
  });
}

/** Reads the number of items for an address. Returns null if the request sets no bound for the address. */
function readAllocation(values: RequestValues, given: unknown, field: string): number | null {
  const name = `${field}.allocation`;
  const value = isFields(given) ? given['allocation'] : undefined;
  if (value === undefined) values.required(value, name);
  // /getallocation shows a missing bound as -1
  if (value === -1 || value === '-1') return null;
  const items = values.whole(value, name);
  if (items !== null && items > BigInt(collectionBounds.items))
    values.fault(name, `must be at most ${collectionBounds.items}, or -1 for no limit`);
  return items === null ? 0 : Number(items);
}

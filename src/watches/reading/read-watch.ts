import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import { parseSpacedRune, whyNoSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { AskedCondition, WatchKind } from '#watches/watch.ts';
import { readSearchCondition, searchFields, unsavedFields } from './read-search-condition.ts';
import type { RunesCondition, SalesCondition, WatchCondition } from './watch-condition.ts';

type Body = Readonly<Record<string, unknown>>;

/** The fields of a condition, by the kind of watch. */
const fieldsOf: Readonly<Record<WatchKind, readonly string[]>> = {
  search: searchFields,
  sales: ['collection', 'minPrice', 'maxPrice', 'address'],
  children: ['parent'],
  runes: ['event', 'rune'],
  receipts: ['address'],
};

/** Fields of a request that are not part of the condition. */
const otherFields = ['kind', 'webhookUrl'];

export interface ReadWatch {
  readonly kind: 'read';
  /** The condition as asked, to store and to show. */
  readonly asked: AskedCondition;
  readonly condition: WatchCondition;
}

/**
 * Reads the condition of a watch from a request, or from a stored watch. Unknown fields are refused, because a watch
 * without a misspelt filter would find too much.
 *
 * @param body the fields of the condition, and `kind` and `webhookUrl`, which are not read here
 */
export function readWatchCondition(
  kind: WatchKind,
  body: Body,
  network: NetworkParameters,
): ReadWatch | Faulty {
  const values = new RequestValues();
  for (const name of Object.keys(body)) {
    const why = kind === 'search' ? unsavedFields.get(name) : undefined;
    if (!isGiven(body[name]) || fieldsOf[kind].includes(name) || otherFields.includes(name)) continue;
    values.fault(
      name,
      why ?? `is not a field of ${kind === 'search' ? 'a saved search' : `a watch of ${kind}`}`,
    );
  }
  const condition = conditionOf(kind, values, body, network);
  if (values.faults.length > 0 || condition === null) return { kind: 'faulty', faults: values.faults };
  const asked = fieldsOf[kind].filter((name) => isGiven(body[name])).map((name) => [name, body[name]]);
  return { kind: 'read', asked: Object.fromEntries(asked) as AskedCondition, condition };
}

function conditionOf(
  kind: WatchKind,
  values: RequestValues,
  body: Body,
  network: NetworkParameters,
): WatchCondition | null {
  switch (kind) {
    case 'search': {
      const search = readSearchCondition(values, body);
      return search && { kind, search };
    }
    case 'children':
      return readChildren(values, body);
    case 'sales': {
      const sales = readSales(values, body, network);
      return sales && { kind, sales };
    }
    case 'runes': {
      const runes = readRunes(values, body);
      return runes && { kind, runes };
    }
    case 'receipts':
      return readReceipts(values, body, network);
  }
}

function readChildren(values: RequestValues, body: Body): WatchCondition | null {
  const parent = values.inscriptionId(body['parent'], 'parent');
  if (parent === null) return null;
  const search = {
    corpus: 'content',
    match: 'substring',
    needles: [],
    hash: null,
    filter: { parent },
  } as const;
  return { kind: 'children', search };
}

function readReceipts(values: RequestValues, body: Body, network: NetworkParameters): WatchCondition | null {
  const script = readScript(values, body['address'], network) ?? values.required(body['address'], 'address');
  return script && { kind: 'receipts', script };
}

function readSales(values: RequestValues, body: Body, network: NetworkParameters): SalesCondition | null {
  const collection = readCollection(values, body['collection']);
  const [least, most] = [
    values.whole(body['minPrice'], 'minPrice'),
    values.whole(body['maxPrice'], 'maxPrice'),
  ];
  const script = readScript(values, body['address'], network);
  if (least !== null && most !== null && least > most)
    return values.sentence('minPrice', 'minPrice is above maxPrice, so no sale can match');
  // every price is at least 0
  const isEvery = [collection, script, least === 0n ? null : least, most].every((part) => part === null);
  if (isEvery && values.faults.length === 0)
    return values.sentence(
      'collection',
      'a watch of sales needs collection, address, a minPrice above 0, or maxPrice, because it would find every sale',
    );
  return {
    collection,
    script,
    minPrice: least === null ? null : Number(least),
    maxPrice: most === null ? null : Number(most),
  };
}

/** The form of slugs of collections (src/market/imports/import-slug.ts). */
const slugForm = /^[a-z0-9][a-z0-9_-]{0,99}$/u;

/** The slug of a collection, which may be the id of a parent or a gallery. */
function readCollection(values: RequestValues, value: unknown): string | null {
  const slug = values.text(value, 'collection');
  if (slug === null || slugForm.test(slug)) return slug;
  if (parseInscriptionId(slug) !== null) return slug.toLowerCase();
  return values.fault(
    'collection',
    'is not the slug of a collection, which has lower-case letters, digits, - and _, or is an inscription id',
  );
}

function readRunes(values: RequestValues, body: Body): RunesCondition | null {
  const event = values.choice(body['event'], 'event', ['etched', 'minted-out'], 'etched');
  if (!isGiven(body['event'])) values.required(body['event'], 'event');
  const name = values.text(body['rune'], 'rune');
  if (name === null) return { event, rune: null };
  const rune = parseSpacedRune(name)?.rune ?? null;
  return rune === null
    ? values.fault('rune', `is not the name of a rune: ${whyNoSpacedRune(name)}`)
    : { event, rune };
}

function readScript(values: RequestValues, value: unknown, network: NetworkParameters): Buffer | null {
  const address = values.text(value, 'address');
  if (address === null) return null;
  const parsed = parseAddress(address, network);
  if (parsed.kind === 'script') return Buffer.from(parsed.script);
  return values.fault('address', `${parsed.reason}, but this server serves ${network.name}`);
}

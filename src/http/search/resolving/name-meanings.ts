import type { ClientBase } from 'pg';
import { runeDetail, spacedNameOf } from '#chain/runes/rune.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { formatRuneId, type RuneId } from '#kernel/runes/rune-id.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128, smallU128, zeroU128 } from '#kernel/runes/u128.ts';
import type { Satribute } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { type NamedCollection, namedCollections } from '#market/lists/collection-search.store.ts';
import { pendingFloor } from '#market/sales/pending-sales.store.ts';
import { groupedDecimal, plural } from '#web/format.ts';
import type { Detail, Meaning } from './meaning.ts';

type NamedRune =
  | { readonly kind: 'rune'; readonly rune: Rune }
  | { readonly kind: 'id'; readonly id: RuneId };

/** The rune with a name or an id, if the rune is etched. */
export async function runeMeanings(
  client: ClientBase,
  named: NamedRune,
  certainty: Meaning['certainty'],
  detail: Detail,
): Promise<Meaning[]> {
  const spaced = await spacedNameOf(client, named);
  if (spaced === null) return [];
  const name = formatSpacedRune(spaced);
  return [
    {
      kind: 'rune',
      label: name,
      path: `/rune/${encodeURIComponent(name)}`,
      why: named.kind === 'id' ? 'has this id' : 'has this name',
      facts: detail === 'card' ? await runeFacts(client, spaced.rune) : [],
      art: null,
      certainty,
    },
  ];
}

async function runeFacts(client: ClientBase, rune: Rune): Promise<string[]> {
  const found = await runeDetail(client, { kind: 'rune', rune }).catch((error: unknown) => {
    // during a first sync mints cannot be counted
    if (error instanceof AppError && error.code === 'index_missing') return null;
    throw error;
  });
  if (found === null) return [];
  const { premine, mints, terms, burned, divisibility, height, txIndex } = found;
  const supply = BigInt(premine) + BigInt(mints) * BigInt(terms?.amount ?? zeroU128) - BigInt(burned);
  return [
    `supply ${groupedDecimal(shownAmount(asU128(supply), divisibility))}`,
    plural(mints, 'mint'),
    `id ${formatRuneId({ block: smallU128(height), tx: txIndex })}`,
  ];
}

/** A name in lower case, without the characters that pages, ids and public interfaces put between words. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/gu, '');

/**
 * The satribute that a text names. The text can be the satribute's title, its id, or its spelling in a public
 * interface.
 */
export function satributeMeanings(book: SatributeBook, text: string): Meaning[] {
  const name = plainName(text);
  const found = book.satributes.find((satribute) =>
    namesOf(satribute).some((given) => plainName(given) === name),
  );
  if (found === undefined) return [];
  return [
    {
      kind: 'satribute',
      label: found.title,
      path: `/satributes/${found.id}`,
      why: 'has this name',
      facts: [found.about],
      art: null,
      certainty: 'likely',
    },
  ];
}

const namesOf = ({ id, title, inventory = id, scanner = id }: Satribute): string[] => [
  id,
  title,
  inventory,
  scanner,
];

/**
 * Maximum number of listed collections. More collections would push the found texts out of view. `/market` lists all.
 */
const collectionsMax = 3;
/**
 * Minimum number of characters of a text that is searched as the beginning of a name. Shorter texts begin the names of
 * many collections.
 */
const beginningCharsMin = 2;

/** Imported collections whose name or slug is the text, or begins with it. */
export async function collectionMeanings(
  client: ClientBase,
  text: string,
  detail: Detail,
): Promise<Meaning[]> {
  const found = await namedCollections(client, text, collectionsMax);
  const named = text.length < beginningCharsMin ? found.filter(({ isWhole }) => isWhole) : found;
  const meanings: Meaning[] = [];
  for (const collection of named) {
    const { slug, name, icon, items, isWhole } = collection;
    meanings.push({
      kind: 'collection',
      label: name,
      path: `/collection/${slug}`,
      why: isWhole ? 'has this name' : 'has a name that begins with this',
      facts: [plural(items, 'item'), ...(detail === 'card' ? await floorFact(client, collection) : [])],
      art: icon === null ? null : { kind: 'icon', id: formatInscriptionId(icon.txid, icon.index) },
      certainty: 'likely',
    });
  }
  return meanings;
}

/**
 * The cheapest pending sale. A node does not see listings, so this sale is the only floor price that the node knows.
 */
async function floorFact(client: ClientBase, collection: NamedCollection): Promise<string[]> {
  const floor = await pendingFloor(client, collection);
  return floor === null ? [] : [`cheapest pending sale ${plural(floor.price, 'sat')}`];
}

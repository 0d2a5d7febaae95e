import { foldText } from './fold.ts';
import { indexPair } from './index-pair.ts';

/**
 * Characters (UTF-16 units) of a title that searches read; those of honest ones are some tens. A title may have four
 * million, and a search for titles reads those of all inscriptions.
 */
export const searchedTitleMax = 1000;

/**
 * Traits of an inscription that searches find. One with more (honest ones have some ten) is found by none of them:
 * half a million fit into one.
 */
export const searchedTraitsMax = 256;

/** Begins and ends each trait among those of an inscription: another letter that occurs in no folded text. */
const traitBorder = 'Þ';

/** What searches read of properties (tag 17), besides the gallery. Null: nothing. */
export interface PropertyTexts {
  /** The beginning of the title, folded. */
  readonly title: string | null;
  /** The distinct terms of the traits (`indexPair`), each between two borders. */
  readonly traits: string | null;
}

/**
 * The texts that searches read, whatever the order of the traits.
 *
 * @param traits names and values; of these, texts without quotes, and anything else as it is written
 */
export function propertyTexts(
  title: string | null,
  traits: readonly (readonly [name: string, value: string])[],
): PropertyTexts {
  const start = title === null ? '' : titleStart(title);
  return { title: start === '' ? null : foldText(start), traits: traitsText(traits) };
}

function titleStart(title: string): string {
  if (title.length <= searchedTitleMax) return title;
  const start = title.slice(0, searchedTitleMax);
  // half of a surrogate pair is not UTF-8
  return start.isWellFormed() ? start : start.slice(0, -1);
}

function traitsText(traits: readonly (readonly [name: string, value: string])[]): string | null {
  if (traits.length === 0 || traits.length > searchedTraitsMax) return null;
  const terms = new Set(traits.map(([name, value]) => indexPair(foldText(name), foldText(value))));
  // sorted: readers of JSON put names that are numbers first
  return `${traitBorder}${[...terms].sort().join(traitBorder)}${traitBorder}`;
}

/** The text that occurs among the traits of every inscription that has this one. */
export const traitNeedle = (name: string, value: string): string =>
  `${traitBorder}${indexPair(foldText(name), foldText(value))}${traitBorder}`;

/** The terms of the traits of an inscription. */
export function traitTerms(traits: string | null): string[] {
  return traits === null ? [] : traits.slice(1, -1).split(traitBorder);
}

interface Attributes {
  readonly title?: unknown;
  readonly traits?: Readonly<Record<string, unknown>>;
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** Numbers as written: they may have more digits than a double. */
const keepDigits: Reviver = (_, value, { source }) => (typeof value === 'number' ? source : value);

/** The texts of a title and traits as ord shows them: JSON. */
export function textsOfAttributes(json: string): PropertyTexts {
  const { title, traits = {} } = JSON.parse(
    json,
    keepDigits as Parameters<typeof JSON.parse>[1],
  ) as Attributes;
  return propertyTexts(
    typeof title === 'string' ? title : null,
    Object.entries(traits).map(([name, value]) => [name, String(value)]),
  );
}

import { foldText } from './fold.ts';
import { indexPair } from './index-pair.ts';

/**
 * Maximum number of characters (UTF-16 units) of a title that searches read. Honest titles have some tens of
 * characters. A title may have four million characters, and a search for titles reads the titles of all inscriptions.
 */
export const searchedTitleMax = 1000;

/**
 * Maximum number of traits of an inscription that searches can find. If there are more traits, searches find none of
 * them. Honest inscriptions have some ten traits, but half a million fit in one inscription.
 */
export const searchedTraitsMax = 256;

/** Separator that begins and ends each trait of an inscription. It is another letter that no folded text contains. */
const traitBorder = 'Þ';

/** Texts of properties (tag 17) that searches read, in addition to the gallery. A text is null if there is none. */
export interface PropertyTexts {
  /** The beginning of the title, folded. */
  readonly title: string | null;
  /** The distinct terms of the traits (`indexPair`). Each term is between two separators. */
  readonly traits: string | null;
}

/**
 * The texts that searches read. They do not depend on the order of the traits.
 *
 * @param traits names and values; texts have no quotes, and all other values are unchanged
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
  // sort the terms, because readers of JSON put names that are numbers first
  return `${traitBorder}${[...terms].sort().join(traitBorder)}${traitBorder}`;
}

/** The text that occurs in the traits of every inscription with this trait. */
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

/** Reviver that keeps numbers unchanged, because they may have more digits than a double. */
const keepDigits: Reviver = (_, value, { source }) => (typeof value === 'number' ? source : value);

/** The texts of a title and traits that are given as JSON, in the form that ord shows. */
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

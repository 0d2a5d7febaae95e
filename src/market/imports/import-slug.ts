import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';

/** The form of slugs. They have no dots and no slashes, because a slug is a part of URL paths. */
const slugPattern = /^[a-z0-9][a-z0-9_-]{0,99}$/u;
/** Maximum number of characters of a list slug. Slugs of the community's lists have up to 60 characters. */
const listSlugCharsMax = 200;
/** Control characters and marks of text direction. Operators would see a slug with such a character as another text. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** A slug that is refused, because `/marketplace/data/collections/of/…` is another path. */
const takenSlug = 'of';

/**
 * Start of the list slugs of collections that this service sells. No other list may have such a slug, because importing
 * that list would replace the sold collection.
 */
const soldListBegin = 'satscribe mint ';

/** The list slug of a collection that this service sells. */
export const soldListSlug = (slug: string): string => `${soldListBegin}${slug}`;

/**
 * Whether a text may be the slug of an import. An id of an inscription may not, because it is the slug of a parent or
 * gallery.
 */
export function isImportSlug(text: string): boolean {
  return slugPattern.test(text) && text !== takenSlug && parseInscriptionId(text) === null;
}

/**
 * The slug derived from a list's own slug: lower case, without accents, and with `-` for all other characters that
 * slugs cannot have. A list slug that is a valid slug is unchanged. Returns null if no slug can be derived.
 */
export function importSlug(listSlug: string): string | null {
  if (isImportSlug(listSlug)) return listSlug;
  if (listSlug.toLowerCase().startsWith(soldListBegin)) return null;
  if (listSlug.length > listSlugCharsMax || !listSlug.isWellFormed() || hidden.test(listSlug)) return null;
  const slug = listSlug
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/gu, '-')
    .replace(/^[_-]+/u, '');
  const made = withoutLastDashes(slug);
  return isImportSlug(made) ? made : null;
}

/** Removes `-` from the end of a text. A regular expression for the end would take quadratic time. */
function withoutLastDashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '-') end--;
  return text.slice(0, end);
}

import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';

/** No dots and no slashes: a slug is a part of paths. */
const slugPattern = /^[a-z0-9][a-z0-9_-]{0,99}$/u;
/** Longest list slug. Slugs of the community's lists have up to 60 characters. */
const listSlugCharsMax = 200;
/** Controls and marks of direction: a slug with one is shown to operators as another text than it is. */
const hidden = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** `/marketplace/data/collections/of/…` is a path of its own. */
const takenSlug = 'of';

/**
 * Begins the list slugs of collections that this service sells. No other list may have such a slug, because its import
 * would replace the sold collection.
 */
const soldListBegin = 'satscribe mint ';

/** The list slug of a collection that this service sells. */
export const soldListSlug = (slug: string): string => `${soldListBegin}${slug}`;

/** Whether a text may be the slug of an import. Ids of inscriptions are slugs of parents and galleries. */
export function isImportSlug(text: string): boolean {
  return slugPattern.test(text) && text !== takenSlug && parseInscriptionId(text) === null;
}

/**
 * The slug derived from a list's own slug: lower case, without accents, `-` for all other characters that slugs lack.
 * Slugs of imports stay as they are. Null: none can be derived.
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

/** A pattern for the end of a text takes square time. */
function withoutLastDashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '-') end--;
  return text.slice(0, end);
}

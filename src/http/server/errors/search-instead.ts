import { isOrderId } from '#http/search/resolving/order-id.ts';

/** A search for what a path names, and the text of it. */
export interface SearchInstead {
  readonly text: string;
  readonly href: string;
}

/** Pages of one thing each, and the name of that thing. */
const ofOneThing =
  /^\/(?:address|block|collection|inscription|output|rune|sale|sat|satributes|tx)\/(?<name>[^/?#]+)/u;
/** A path that nothing has, of one part. */
const bare = /^\/(?<name>[^/?#]+)\/?(?:\?.*)?$/u;
/** Ids that begin with the one of a transaction: a search for them leads back to their page. */
const withTxid = /^[0-9a-f]{64}(?=[i:]\d)/iu;
/** Longer texts are no names. */
const textCharsMax = 200;

/**
 * The search that a page of an error offers: names that other sites write otherwise, in other letters or with spacers,
 * are found by it. Null: the path names nothing that can be searched. Pure.
 *
 * @param isUnknown whether no page has this path
 */
export function searchInstead(url: string, isUnknown: boolean): SearchInstead | null {
  const given = nameIn(url, isUnknown);
  if (given === '' || given.length > textCharsMax || isOrderId(given)) return null;
  const text = withTxid.exec(given)?.[0] ?? given;
  return { text, href: `/?${new URLSearchParams({ q: text }).toString()}` };
}

/** Empty: the path has none. */
function nameIn(url: string, isUnknown: boolean): string {
  const match = ofOneThing.exec(url) ?? (isUnknown ? bare.exec(url) : null);
  return decoded(match?.groups?.['name'] ?? '').trim();
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

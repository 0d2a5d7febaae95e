import { isOrderId } from '#http/search/resolving/order-id.ts';

/** The text and the link of a search for the thing that a path names. */
export interface SearchInstead {
  readonly text: string;
  readonly href: string;
}

/** Paths of pages that each show one thing. `name` is the name of the thing. */
const ofOneThing =
  /^\/(?:address|block|collection|inscription|output|rune|sale|sat|satributes|tx)\/(?<name>[^/?#]+)/u;
/** An unknown path with only one part. */
const bare = /^\/(?<name>[^/?#]+)\/?(?:\?.*)?$/u;
/**
 * The txid at the beginning of an id. Only the txid is searched, because a search for the entire id would lead back to
 * the same page.
 */
const withTxid = /^[0-9a-f]{64}(?=[i:]\d)/iu;
/** Maximum number of characters of a name. */
const textCharsMax = 200;

/**
 * The search that an error page offers. The search also finds names that other sites write differently, for example in
 * another letter case or with spacers. Null if the path names nothing to search. Pure.
 *
 * @param isUnknown whether no page has this path
 */
export function searchInstead(url: string, isUnknown: boolean): SearchInstead | null {
  const given = nameIn(url, isUnknown);
  if (given === '' || given.length > textCharsMax || isOrderId(given)) return null;
  const text = withTxid.exec(given)?.[0] ?? given;
  return { text, href: `/?${new URLSearchParams({ q: text }).toString()}` };
}

/** The name in a path. Empty if the path has no name. */
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

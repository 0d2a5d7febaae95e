import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { metadataMembersLengthMax } from '#kernel/text/searchable.ts';
import { indexTerm } from './index-term.ts';
import { readJsonMembers } from './json-members.ts';

/** The terms that find a metadata text by whole keys and values: folded, bounded, each once. */
export interface MetadataTerms {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** A key together with its value, or with a value in a list under it. */
  readonly pairs: readonly string[];
}

/**
 * The terms of a canonical metadata text: names of members at any depth, and scalar values as written (numbers digit by
 * digit, strings without quotes). Null: the text is not JSON, or longer than `metadataMembersLengthMax`. Only a text
 * search finds such a text.
 */
export function metadataTerms(json: string): MetadataTerms | null {
  if (json.length > metadataMembersLengthMax) return null;
  const keys = new Set<string>();
  const values = new Set<string>();
  const pairs = new Set<string>();
  const isJson = readJsonMembers(json, {
    name: (name) => keys.add(indexTerm(foldText(name))),
    scalar: ({ name, text }) => {
      const folded = foldText(text);
      values.add(indexTerm(folded));
      if (name !== null) pairs.add(indexPair(foldText(name), folded));
    },
  });
  return isJson ? { keys: [...keys], values: [...values], pairs: [...pairs] } : null;
}

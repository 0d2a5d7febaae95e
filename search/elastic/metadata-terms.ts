import { foldText } from '#kernel/text/fold.ts';
import { indexPair, indexTerm } from './index-term.ts';

/** What of a metadata text is found by whole keys and values. Terms are folded and bounded; each is there once. */
export interface MetadataTerms {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** A key and a value that stands under it, or in a list under it. */
  readonly pairs: readonly string[];
}

/**
 * The terms of a canonical metadata text: names of members, at any depth, and scalar values as they stand in the text
 * (numbers digit by digit, strings without their quotes). Null where the text is no JSON.
 */
export function metadataTerms(json: string): MetadataTerms | null {
  const keys = new Set<string>();
  const values = new Set<string>();
  const pairs = new Set<string>();
  const sources = readJson(json);
  if (sources === undefined) return null;
  // a stack of its own: the depth is bounded by the rules of CBOR, and not by ours
  const left: { key: string; value: unknown }[] = [{ key: '', value: sources.value }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { key, value } = next;
    if (Array.isArray(value)) {
      for (const item of value as unknown[]) left.push({ key, value: item });
    } else if (typeof value === 'object' && value !== null && !(value instanceof NumberText)) {
      for (const [name, member] of Object.entries(value)) {
        const folded = foldText(name);
        keys.add(indexTerm(folded));
        left.push({ key: folded, value: member });
      }
    } else {
      const text = foldText(value instanceof NumberText ? value.text : String(value));
      values.add(indexTerm(text));
      pairs.add(indexPair(key, text));
    }
  }
  return { keys: [...keys], values: [...values], pairs: [...pairs] };
}

/** A number as it was written: it may have more digits than a double. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

function readJson(json: string): { value: unknown } | undefined {
  const keepDigits: Reviver = (_, value, { source }) =>
    typeof value === 'number' ? new NumberText(source ?? String(value)) : value;
  try {
    return { value: JSON.parse(json, keepDigits as Parameters<typeof JSON.parse>[1]) as unknown };
  } catch {
    return undefined;
  }
}

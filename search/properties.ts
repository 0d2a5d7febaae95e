import type { MetadataMember } from '#kernel/contracts/search-engine.ts';
import { foldText } from '#kernel/text/fold.ts';
import { Occurrences } from './occurrences.ts';

/**
 * SQL: the attributes of an inscription's properties, as a JSON object in UTF-8 but for its first brace. Nowhere else in the text
 * (indexer/parse/properties.ts) a list is followed by them: an item of a gallery has its id before them, and quotes within strings are escaped.
 */
export const attributesOf = `convert_to(substring(properties_json FROM position('],"attributes":' IN properties_json) + 2), 'UTF8')`;

/** What a gallery that names an id has in the JSON text, and nothing else has: the value of a trait is no object. */
export const galleryItem = (id: string): string => `{"id":"${id}","attributes":{`;

interface Attributes {
  readonly attributes: { readonly title: string | null; readonly traits: Readonly<Record<string, unknown>> };
}

/** A number as it is written: it may have more digits than a double. */
class Digits {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const keepDigits: Reviver = (_, value, { source }) =>
  typeof value === 'number' ? new Digits(source ?? String(value)) : value;

/** A check of what `attributesOf` gives: all of these (absent: anything) must hold; `title` is a piece, traits are whole. */
export function attributesCheck(wanted: {
  readonly title?: string;
  readonly traits?: readonly MetadataMember[];
}): (attributes: Uint8Array) => boolean {
  const title = wanted.title === undefined ? null : new Occurrences(foldText(wanted.title));
  const traits = (wanted.traits ?? []).map(({ name, value }) => [foldText(name), foldText(value)] as const);
  return (bytes) => {
    const json = `{${Buffer.from(bytes).toString()}`;
    const { attributes } = JSON.parse(json, keepDigits as Parameters<typeof JSON.parse>[1]) as Attributes;
    if (title !== null && (attributes.title === null || title.first(foldText(attributes.title)) < 0))
      return false;
    const own = Object.entries(attributes.traits).map(
      ([name, value]) =>
        [foldText(name), foldText(value instanceof Digits ? value.text : String(value))] as const,
    );
    return traits.every(([name, value]) => own.some((trait) => trait[0] === name && trait[1] === value));
  };
}

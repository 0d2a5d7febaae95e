import type { MetadataMember } from '#kernel/contracts/search-engine.ts';
import { foldText } from '#kernel/text/fold.ts';
import { Occurrences } from './occurrences.ts';

/**
 * SQL: the attributes of an inscription's properties as a JSON object in UTF-8, without its opening brace. Only there
 * does a list come before them (indexer/parse/properties-json.ts): an item of a gallery has its id first, and quotes
 * in strings are escaped.
 */
export const attributesOf = `convert_to(substring(properties_json FROM position('],"attributes":' IN properties_json) + 2), 'UTF8')`;

/** The JSON text of a gallery item with this id. Nothing else contains it: the value of a trait is no object. */
export const galleryItem = (id: string): string => `{"id":"${id}","attributes":{`;

/** The properties (tag 17) that searches read. */
export interface SearchedProperties {
  /** Folded. Null: no title. */
  readonly title: string | null;
  /** Folded names and values; each pair once. */
  readonly traits: readonly (readonly [name: string, value: string])[];
  /** Ids as written. */
  readonly gallery: readonly string[];
}

interface PropertiesJson {
  readonly gallery?: readonly { readonly id: string }[];
  readonly attributes?: { readonly title?: unknown; readonly traits?: Readonly<Record<string, unknown>> };
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** Numbers as written: they may have more digits than a double. */
const keepDigits: Reviver = (_, value, { source }) => (typeof value === 'number' ? source : value);

/**
 * Reads properties as the parser wrote them (chain.inscription_details.properties_json), or some of their members.
 */
export function readProperties(json: string): SearchedProperties {
  const { gallery = [], attributes = {} } = JSON.parse(
    json,
    keepDigits as Parameters<typeof JSON.parse>[1],
  ) as PropertiesJson;
  const { title, traits = {} } = attributes;
  return {
    title: typeof title === 'string' ? foldText(title) : null,
    traits: Object.entries(traits).map(([name, value]) => [foldText(name), foldText(String(value))] as const),
    gallery: gallery.map(({ id }) => id),
  };
}

/**
 * Checks properties against a filter (absent: no condition): `title` is a substring, traits are whole, all must
 * match.
 */
export function propertiesCheck(wanted: {
  readonly title?: string | undefined;
  readonly traits?: readonly MetadataMember[] | undefined;
}): (properties: SearchedProperties) => boolean {
  const title = wanted.title === undefined ? null : new Occurrences(foldText(wanted.title));
  const traits = (wanted.traits ?? []).map(({ name, value }) => [foldText(name), foldText(value)] as const);
  return (own) => {
    if (title !== null && (own.title === null || title.first(own.title) < 0)) return false;
    return traits.every(([name, value]) =>
      own.traits.some((trait) => trait[0] === name && trait[1] === value),
    );
  };
}

/** Like `propertiesCheck`, for what `attributesOf` gives. */
export function attributesCheck(
  wanted: Parameters<typeof propertiesCheck>[0],
): (attributes: Uint8Array) => boolean {
  const passes = propertiesCheck(wanted);
  return (bytes) => passes(readProperties(`{${Buffer.from(bytes).toString()}`));
}

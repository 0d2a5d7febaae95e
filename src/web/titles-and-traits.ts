import { isVisible } from './parts/strangers-text.ts';

/** The name and traits of an inscription, as the creator wrote them. */
export interface TitleAndTraits {
  /** `null` if the inscription has no title. */
  readonly title: string | null;
  readonly traits: readonly Trait[];
}

export interface Trait {
  /** `null` if the creator gave a value without a name. */
  readonly name: string | null;
  readonly value: string;
}

/** Maximum number of characters of a title. Longer titles are texts, not names. */
const titleCharsMax = 120;
/** Maximum number of characters of a trait's name or value. Longer names and values are cut. */
const traitCharsMax = 200;
/** Maximum number of traits that a page shows. The record has all traits. Honest collections have about ten. */
const traitsMax = 40;

/**
 * Reads the title and traits from properties (ord's `attributes`). If the title or the traits are missing in the
 * properties, reads them from metadata in the forms that collections use. The title is `name` or `title`. The traits
 * are `attributes` as a list of `trait_type` and `value`, or `attributes` or `traits` as an object. Never throws.
 * Truncated JSON gives neither title nor traits.
 */
export function titleAndTraits({
  attributesJson,
  propertiesJson = null,
  metadataJson,
}: {
  readonly attributesJson: string | null;
  /** The text of all properties, including properties that are not stored in rows. */
  readonly propertiesJson?: string | null;
  readonly metadataJson: string | null;
}): TitleAndTraits {
  const attributes = objectOf(attributesJson) ?? asObject(objectOf(propertiesJson)?.['attributes']);
  const metadata = objectOf(metadataJson);
  const ofProperties = traitsOf(attributes?.['traits']);
  return {
    title: titleOf(attributes?.['title']) ?? titleOfMetadata(metadata),
    traits: (ofProperties.length > 0 ? ofProperties : traitsOfMetadata(metadata)).slice(0, traitsMax),
  };
}

const titleOfMetadata = (metadata: JsonObject | null): string | null =>
  titleOf(metadata?.['name']) ?? titleOf(metadata?.['title']);

const traitsOfMetadata = (metadata: JsonObject | null): Trait[] =>
  traitsOf(metadata?.['attributes'] ?? metadata?.['traits']);

type JsonObject = Readonly<Record<string, unknown>>;

function objectOf(json: string | null): JsonObject | null {
  if (json === null) return null;
  try {
    return asObject(JSON.parse(json, exactNumbers));
  } catch {
    return null;
  }
}

const asObject = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;

/** Converts numbers to texts of their digits, because a double would round large numbers. */
function exactNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

function titleOf(value: unknown): string | null {
  const title = typeof value === 'string' ? value.trim() : '';
  return isVisible(title) && title.length <= titleCharsMax ? title : null;
}

function traitsOf(value: unknown): Trait[] {
  if (Array.isArray(value)) return value.flatMap(listedTrait);
  return Object.entries(asObject(value) ?? {}).flatMap(([name, of]) => traitOf(name, of));
}

function listedTrait(value: unknown): Trait[] {
  const entry = asObject(value);
  if (entry === null) return traitOf(null, value);
  const name = [entry['trait_type'], entry['name'], entry['type']].find((of) => typeof of === 'string');
  return traitOf(typeof name === 'string' ? name : null, entry['value']);
}

function traitOf(name: string | null, value: unknown): Trait[] {
  if (typeof value !== 'string' && typeof value !== 'boolean') return [];
  return [{ name: name === null ? null : cut(name), value: cut(String(value)) }];
}

const cut = (text: string): string =>
  text.length <= traitCharsMax ? text : `${text.slice(0, traitCharsMax).toWellFormed()}…`;

/** A title for the head of a page and for shared links, without characters that reverse or hide other characters. */
export function plainTitle(title: string): string {
  return title.replace(/\p{C}/gu, '').replace(/\s+/gu, ' ').trim();
}

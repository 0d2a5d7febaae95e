import { itemBytes } from '#chain/snapshot/gallery-pages.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type PropertyTexts, traitTerms } from '#kernel/text/property-texts.ts';
import type { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { type ElasticTuning, usualTuning } from '#search/elastic/server/elastic-tuning.ts';
import { gramText } from '#search/text/gram-text.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { wordsOfFolded } from '#search/text/words.ts';

/**
 * Copies: inscriptions of a range of keys that have the same values in all searched and filtered fields, and differ
 * only in their position in the order. A document is made from a group (docs/adr/0014).
 */
export interface Group {
  /** Keys of the inscriptions, ascending. */
  readonly keys: readonly InscriptionKey[];
  /** For each key: the day of its block, counted from 1970. */
  readonly days: readonly number[];
  /** Content type in the form of `indexTermOfBytes`, like all byte terms here. Null: no content type, or not UTF-8. */
  readonly contentType: string | null;
  /** The content type up to its slash, `image/`. Null: no content type, or not UTF-8. */
  readonly contentClass: string | null;
  /** Whether the inscriptions are cursed. Null: unknown (docs/adr/0026). */
  readonly cursed: boolean | null;
  /** True if the inscription number is unknown. */
  readonly isUnnumbered: boolean;
  readonly metaprotocol: string | null;
  /** Keys of the valid parents. */
  readonly parents: readonly InscriptionKey[];
  readonly properties: GroupProperties | null;
  readonly content: GroupContent | null;
  readonly metadata: GroupMetadata | null;
}

export interface GroupContent {
  /** sha256 in the form of `hashTerm`. */
  readonly sha256: string;
  readonly decodedSha256: string | null;
  readonly sizeBytes: number;
  /** The folded text. Null: the content is not searchable. */
  readonly folded: string | null;
}

export interface GroupMetadata {
  readonly json: string;
  readonly folded: string;
}

/** Texts of the properties that searches read (src/kernel/text/property-texts.ts), and the ids of the gallery. */
export interface GroupProperties extends PropertyTexts {
  /** The ids of the gallery's items, 36 bytes each. */
  readonly ids: Buffer;
}

export type DocumentBounds = Pick<ElasticTuning, 'spanKeys' | 'keysPerDocument'>;

/** A document in the form that the bulk format needs. */
export interface SearchDocument {
  readonly id: string;
  /** The external version: the outbox sequence. */
  readonly version: number;
  readonly source: Readonly<Record<string, unknown>>;
}

/** Omits fields that are `null` or empty, because an absent field costs nothing. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/**
 * The documents of a group. There is one, unless the group has very many keys or keys in several spans. Yields
 * documents one by one, because a text may have millions of copies.
 */
export function* documentsOf(
  group: Group,
  sequence: number,
  book: PhraseBook,
  bounds: DocumentBounds = usualTuning,
): Generator<SearchDocument> {
  const shared = sharedFields(group, book);
  for (const [from, to] of slicesOf(group.keys, bounds)) {
    const keys = group.keys.slice(from, to);
    const firstKey = keys[0]!;
    yield {
      id: String(firstKey),
      version: sequence,
      source: {
        firstKey,
        lastKey: keys.at(-1),
        count: keys.length,
        keys,
        sequence,
        member: keys.map((key, at) => ({ key, day: group.days[from + at] })),
        ...shared,
      },
    };
  }
}

/** Replaces a document whose inscriptions no longer exist. No search finds it. */
export function tombstone(id: string, sequence: number): SearchDocument {
  return { id, version: sequence, source: { sequence } };
}

/** Cuts ascending keys: every `keysPerDocument` keys, and at each border of a span. */
function slicesOf(
  keys: readonly InscriptionKey[],
  { keysPerDocument, spanKeys }: DocumentBounds,
): [from: number, to: number][] {
  const spanOf = (at: number): number => Math.floor(keys[at]! / spanKeys);
  const slices: [number, number][] = [];
  let from = 0;
  for (let at = 1; at <= keys.length; at++) {
    const isEnd = at === keys.length || at - from === keysPerDocument;
    if (!isEnd && spanOf(at) === spanOf(from)) continue;
    slices.push([from, at]);
    from = at;
  }
  return slices;
}

function sharedFields(group: Group, book: PhraseBook): Record<string, unknown> {
  const { content, metadata } = group;
  return present({
    type: group.contentType,
    class: group.contentClass,
    cursed: group.cursed,
    unnumbered: group.isUnnumbered ? true : null,
    metaprotocol: group.metaprotocol,
    parents: group.parents,
    size: content?.sizeBytes ?? 0,
    ...contentFields(content, book),
    ...metadataFields(metadata),
    ...propertyFields(group.properties),
  });
}

function contentFields(content: GroupContent | null, book: PhraseBook): Record<string, unknown> {
  if (content === null) return {};
  const { sha256, decodedSha256, folded } = content;
  return {
    hashes: decodedSha256 === null || decodedSha256 === sha256 ? [sha256] : [sha256, decodedSha256],
    ...(folded === null ? {} : { ...book.encode(folded), words: wordsText(folded) }),
  };
}

function metadataFields(metadata: GroupMetadata | null): Record<string, unknown> {
  if (metadata === null) return {};
  const terms = metadataTerms(metadata.json);
  return {
    metadata: gramText(metadata.folded),
    metadataWords: wordsText(metadata.folded),
    ...(terms === null
      ? {}
      : { metadataKeys: terms.keys, metadataValues: terms.values, metadataPairs: terms.pairs }),
  };
}

/** Words joined by blanks, at which the server splits them again. Null: no words. */
function wordsText(folded: string): string | null {
  const words = wordsOfFolded(folded);
  return words.length === 0 ? null : words.join(' ');
}

/** Title, traits and gallery (tag 17). */
function propertyFields(properties: GroupProperties | null): Record<string, unknown> {
  if (properties === null) return {};
  const { title, traits, ids } = properties;
  const items = new Set<string>();
  for (let at = 0; at < ids.length; at += itemBytes) items.add(ids.toString('base64url', at, at + itemBytes));
  return {
    title: title === null ? null : gramText(title),
    traits: traitTerms(traits),
    gallery: [...items],
  };
}

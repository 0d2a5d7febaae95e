import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { type ElasticTuning, usualTuning } from '#search/elastic/server/elastic-tuning.ts';
import { gramText } from '#search/text/gram-text.ts';
import { galleryTerm, indexPair } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { readProperties } from '#search/text/searched-properties.ts';
import { wordsOfFolded } from '#search/text/words.ts';

/**
 * Inscriptions of a range of keys that are equal in everything that is searched and filtered, except their places in the
 * order: copies. What a document is made of (docs/adr/0014).
 */
export interface Group {
  /** Ascending. */
  readonly keys: readonly number[];
  /** Of each key, days since 1970 of its block's time. */
  readonly days: readonly number[];
  /** As `indexTermOfBytes` writes them, as all terms of bytes here. Null: without one, or no UTF-8. */
  readonly contentType: string | null;
  /** The first part of the content type with its slash, `image/`; null: without one, or no UTF-8. */
  readonly contentClass: string | null;
  /** Null: its number is not known. */
  readonly cursed: boolean | null;
  readonly metaprotocol: string | null;
  /** Keys of the parents that hold. */
  readonly parents: readonly number[];
  /** chain.inscription_details.properties_json */
  readonly properties: string | null;
  readonly content: GroupContent | null;
  readonly metadata: GroupMetadata | null;
}

export interface GroupContent {
  /** As `hashTerm` writes them. */
  readonly sha256: string;
  readonly decodedSha256: string | null;
  readonly sizeBytes: number;
  /** Null: it is not searchable. */
  readonly folded: string | null;
}

export interface GroupMetadata {
  readonly json: string;
  readonly folded: string;
}

export type DocumentBounds = Pick<ElasticTuning, 'spanKeys' | 'keysPerDocument'>;

/** A document as bulk writes take it. */
export interface SearchDocument {
  readonly id: string;
  /** The external version: the outbox sequence. */
  readonly version: number;
  readonly source: Readonly<Record<string, unknown>>;
}

/** Field values that are `null` or empty lists are left out: an absent field costs nothing. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/**
 * The documents of a group: one, but for groups of very many keys, or of keys in several spans. One after the other, as a text may have
 * millions of copies.
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
    const firstKey = keys[0] as number;
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

/** What takes the place of a document whose inscriptions are gone: it is found by nothing. */
export function tombstone(id: string, sequence: number): SearchDocument {
  return { id, version: sequence, source: { sequence } };
}

/** Places that ascending keys are cut at: every `keysPerDocument`, and between spans. */
function slicesOf(
  keys: readonly number[],
  { keysPerDocument, spanKeys }: DocumentBounds,
): [from: number, to: number][] {
  const spanOf = (at: number): number => Math.floor((keys[at] as number) / spanKeys);
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

/** Words as the server takes them apart again, at blanks; null: there are none. */
function wordsText(folded: string): string | null {
  const words = wordsOfFolded(folded);
  return words.length === 0 ? null : words.join(' ');
}

/** Title, traits and gallery of tag 17. */
function propertyFields(json: string | null): Record<string, unknown> {
  if (json === null) return {};
  const { title, traits, gallery } = readProperties(json);
  const ids = gallery.map(parseInscriptionId).filter((id) => id !== null);
  return {
    title: title === null ? null : gramText(title),
    traits: traits.map(([name, value]) => indexPair(name, value)),
    gallery: [...new Set(ids.map(galleryTerm))],
  };
}

import { foldText } from '#kernel/text/fold.ts';
import { type ElasticTuning, usualTuning } from './elastic-tuning.ts';
import { indexPair, indexTerm } from './index-term.ts';
import { type MetadataTerms, metadataTerms } from './metadata-terms.ts';

/**
 * Inscriptions of a range of keys that are equal in everything that is searched and filtered, except their places in the
 * order: copies. What a document is made of (docs/adr/0014).
 */
export interface Group {
  /** Ascending. */
  readonly keys: readonly number[];
  /** Of each key, days since 1970 of its block's time. */
  readonly days: readonly number[];
  readonly contentType: string | null;
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

/**
 * Ends every text: the grams of its end show needles of one and two code points by their beginnings. NUL is in no folded
 * text (it counts as U+2400), so no needle reaches into it.
 */
const textEnd = '\0\0';

/** Field values that are `null` or empty lists are left out: an absent field costs nothing. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** The documents of a group: one, but for groups of very many keys, or of keys in several spans. */
export function documentsOf(
  group: Group,
  sequence: number,
  bounds: DocumentBounds = usualTuning,
): SearchDocument[] {
  const shared = sharedFields(group);
  return slicesOf(group.keys, bounds).map(([from, to]) => {
    const keys = group.keys.slice(from, to);
    const firstKey = keys[0] as number;
    return {
      id: String(firstKey),
      version: sequence,
      source: {
        firstKey,
        count: keys.length,
        keys,
        sequence,
        member: keys.map((key, at) => ({ key, day: group.days[from + at] })),
        ...shared,
      },
    };
  });
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

function sharedFields(group: Group): Record<string, unknown> {
  const { content, metadata, contentType } = group;
  const terms = metadata === null ? null : metadataTerms(metadata.json);
  return present({
    type: contentType === null ? null : indexTerm(contentType),
    media: contentType === null ? null : indexTerm(mediaTypeOf(contentType)),
    cursed: group.cursed,
    metaprotocol: group.metaprotocol === null ? null : indexTerm(group.metaprotocol),
    parents: group.parents,
    ...contentFields(content),
    metadata: metadata === null ? null : metadata.folded + textEnd,
    ...metadataFields(terms),
    ...propertyFields(group.properties),
  });
}

function contentFields(content: GroupContent | null): Record<string, unknown> {
  if (content === null) return {};
  const { sha256, decodedSha256, sizeBytes, folded } = content;
  return {
    hashes: decodedSha256 === null || decodedSha256 === sha256 ? [sha256] : [sha256, decodedSha256],
    size: sizeBytes,
    text: folded === null ? null : folded + textEnd,
  };
}

function metadataFields(terms: MetadataTerms | null): Record<string, unknown> {
  if (terms === null) return {};
  return { metadataKeys: terms.keys, metadataValues: terms.values, metadataPairs: terms.pairs };
}

/** Lower case, without parameters: what types are counted and filtered by. */
export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

interface Properties {
  readonly gallery?: readonly { readonly id: string }[];
  readonly attributes?: {
    readonly title?: string | null;
    readonly traits?: Readonly<Record<string, unknown>>;
  };
}

/** Title, traits and gallery of tag 17, as the parser wrote them. */
function propertyFields(json: string | null): Record<string, unknown> {
  if (json === null) return {};
  const { gallery = [], attributes = {} } = JSON.parse(json) as Properties;
  const traits = Object.entries(attributes.traits ?? {});
  return {
    title: typeof attributes.title === 'string' ? foldText(attributes.title) + textEnd : null,
    traits: traits.map(([name, value]) => indexPair(foldText(name), foldText(String(value)))),
    gallery: [...new Set(gallery.map(({ id }) => id))],
  };
}

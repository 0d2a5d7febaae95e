import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { traitNeedle } from '#kernel/text/property-texts.ts';
import { indexTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { findWords } from '#search/text/word-check.ts';
import type { SearchCondition } from '#watches/reading/watch-condition.ts';
import { NeedleField } from './needle-field.ts';
import type { WatchedInscription } from './watched-inscription.ts';

const fieldNames = ['text', 'metadata', 'title', 'traits'] as const;
type FieldName = (typeof fieldNames)[number];

/** A needle of a field. */
interface Needle {
  readonly field: FieldName;
  readonly number: number;
  readonly length: number;
}

/** A watch with its conditions, ready to be compared. Conditions that are null are always true. */
interface Entry<Watch> {
  readonly watch: Watch;
  readonly needles: readonly Needle[];
  readonly words: { readonly field: 'text' | 'metadata'; readonly all: readonly string[] } | null;
  readonly hash: string | null;
  readonly gallery: string | null;
  readonly parent: string | null;
  readonly term: string | null;
  readonly metaprotocol: string | null;
  readonly contentType: string | null;
  readonly cursed: boolean | null;
}

/** Watches that match if a text has their words. All their other conditions are true. */
export interface UndecidedWords<Watch> {
  readonly text: Uint8Array;
  readonly watches: readonly { readonly watch: Watch; readonly words: readonly string[] }[];
}

/**
 * Decides by one scan of the text, whose parts take about a millisecond each.
 *
 * @returns the watches that match
 */
export function* decideWords<Watch>({ text, watches }: UndecidedWords<Watch>): Generator<void, Watch[]> {
  const has = yield* findWords(text, [...new Set(watches.flatMap(({ words }) => words))]);
  return watches.filter(({ words }) => words.every((word) => has.has(word))).map(({ watch }) => watch);
}

/** The conditions by whose values entries are found in a map. A value that occurs in fewer inscriptions comes first. */
const keyNames = ['hash', 'gallery', 'parent', 'term', 'metaprotocol', 'contentType'] as const;
type KeyName = (typeof keyNames)[number];

/**
 * All searches together, compared with one inscription at a time. Each search is found by one of its conditions: the
 * hash, else its longest needle, else another condition that few inscriptions have. Only then its other conditions are
 * compared, with the meaning that they have in the search engines.
 */
export class WatchIndex<Watch> {
  readonly #fields: Readonly<Record<FieldName, NeedleField>> = {
    text: new NeedleField(),
    metadata: new NeedleField(),
    title: new NeedleField(),
    traits: new NeedleField(),
  };
  /** Entries by the needle, or by the value, by which they are found. */
  readonly #byNeedle: Readonly<Record<FieldName, Entry<Watch>[][]>> = {
    text: [],
    metadata: [],
    title: [],
    traits: [],
  };
  readonly #byKey: Readonly<Record<KeyName, Map<string, Entry<Watch>[]>>> = {
    hash: new Map(),
    gallery: new Map(),
    parent: new Map(),
    term: new Map(),
    metaprotocol: new Map(),
    contentType: new Map(),
  };
  readonly size: number;
  #hasTerms = false;

  constructor(watches: readonly { readonly watch: Watch; readonly search: SearchCondition }[]) {
    this.size = watches.length;
    for (const { watch, search } of watches) this.#place(this.#entryOf(watch, search));
    for (const name of fieldNames) this.#fields[name].seal();
  }

  /** Bytes of memory for each needle beyond its own bytes. 0: there are no needles. */
  get needleBytes(): number {
    const fields = fieldNames.map((name) => this.#fields[name]);
    const needles = fields.reduce((sum, { size }) => sum + size, 0);
    return needles === 0 ? 0 : fields.reduce((sum, { tableBytes }) => sum + tableBytes, 0) / needles;
  }

  /**
   * Finds the watches that match an inscription.
   *
   * @param found is called once for each watch that matches
   * @returns watches for which a text must still be searched for words
   */
  match(inscription: WatchedInscription, found: (watch: Watch) => void): UndecidedWords<Watch>[] {
    const row = new ComparedInscription(inscription, this.#hasTerms);
    const candidates: Entry<Watch>[] = [];
    for (const name of fieldNames) {
      const entries = this.#byNeedle[name];
      // also without a text, so that no needle of the last inscription stays found
      this.#fields[name].match(inscription[name], (needle) => {
        const held = entries[needle];
        if (held !== undefined) for (const entry of held) candidates.push(entry);
      });
    }
    for (const name of keyNames) {
      const entries = this.#byKey[name];
      if (entries.size === 0) continue;
      for (const value of row.valuesOf(name)) {
        const held = entries.get(value);
        if (held !== undefined) for (const entry of held) candidates.push(entry);
      }
    }
    if (candidates.length === 0) return [];
    return this.#decide(candidates, row, found);
  }

  #decide(
    candidates: readonly Entry<Watch>[],
    row: ComparedInscription,
    found: (watch: Watch) => void,
  ): UndecidedWords<Watch>[] {
    const undecided = { text: [], metadata: [] } as Record<
      'text' | 'metadata',
      { watch: Watch; words: readonly string[] }[]
    >;
    for (const entry of candidates) {
      if (!this.#passes(entry, row)) continue;
      const { watch, words } = entry;
      if (words === null) found(watch);
      else undecided[words.field].push({ watch, words: words.all });
    }
    return (['text', 'metadata'] as const).flatMap((field) => {
      const text = row.inscription[field];
      return text === null || undecided[field].length === 0 ? [] : [{ text, watches: undecided[field] }];
    });
  }

  #passes(entry: Entry<Watch>, row: ComparedInscription): boolean {
    if (entry.cursed !== null && row.inscription.cursed !== entry.cursed) return false;
    for (const { field, number } of entry.needles) if (!this.#fields[field].has(number)) return false;
    for (const name of keyNames) {
      const value = entry[name];
      if (value !== null && !row.has(name, value)) return false;
    }
    return true;
  }

  #entryOf(watch: Watch, { corpus, match, needles, hash, filter }: SearchCondition): Entry<Watch> {
    const field = corpus === 'content' ? 'text' : 'metadata';
    const { title, traits = [] } = filter;
    const keys = keysOf(filter);
    if (keys.term !== null) this.#hasTerms = true;
    return {
      watch,
      needles: [
        ...(match === 'words' ? neededOf(needles) : needles).map((needle) => this.#needle(field, needle)),
        ...(title === undefined ? [] : [this.#needle('title', foldText(title))]),
        ...traits.map(({ name, value }) => this.#needle('traits', traitNeedle(name, value))),
      ],
      words: match === 'words' && needles.length > 0 ? { field, all: needles } : null,
      hash,
      ...keys,
      cursed: filter.cursed ?? null,
    };
  }

  #needle(field: FieldName, needle: string): Needle {
    return { field, number: this.#fields[field].add(needle), length: needle.length };
  }

  #place(entry: Entry<Watch>): void {
    const texts = entry.needles.filter(({ field }) => field === 'text' || field === 'metadata');
    const place = {
      needle: longest(texts) ?? longest(entry.needles),
      name: keyNames.find((name) => entry[name] !== null),
    };
    if (place.needle !== null && entry.hash === null) {
      const { field, number } = place.needle;
      const entries = this.#byNeedle[field];
      const same = entries[number];
      // most needles have one search, and an empty list would get room for many
      if (same === undefined) entries[number] = [entry];
      else same.push(entry);
    } else if (place.name !== undefined) {
      const entries = this.#byKey[place.name];
      const value = entry[place.name] ?? '';
      const same = entries.get(value);
      if (same === undefined) entries.set(value, [entry]);
      else same.push(entry);
    } else throw new Error('a watch that matches every inscription is not indexed');
  }
}

/** The conditions of a filter by which entries are found in a map. */
function keysOf({
  gallery,
  parent,
  metadata,
  metaprotocol,
  contentType,
}: SearchFilter): Record<Exclude<KeyName, 'hash'>, string | null> {
  return {
    gallery: gallery === undefined ? null : idKey(gallery),
    parent: parent === undefined ? null : idKey(parent),
    term: metadata === undefined ? null : termOf(metadata),
    metaprotocol: metaprotocol === undefined ? null : latin1(Buffer.from(metaprotocol)),
    contentType: contentType === undefined ? null : latin1(Buffer.from(contentType)),
  };
}

/** Maximum number of words of a search that texts must have as needles before they are searched for whole words. */
const neededWords = 2;

/** The longest words. A text with all words has them as needles, and few texts have them. */
const neededOf = (words: readonly string[]): string[] =>
  words.toSorted((a, b) => b.length - a.length).slice(0, neededWords);

const longest = (needles: readonly Needle[]): Needle | null =>
  needles.toSorted((a, b) => b.length - a.length)[0] ?? null;

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

const idKey = (id: InscriptionId): string => latin1(inscriptionIdBytes(id));
const idBytes = 36;

/** A condition on metadata as one term. The first letter says whether the term is a key, a value or both. */
function termOf({ key, value }: { readonly key?: string; readonly value?: string }): string {
  if (key !== undefined && value !== undefined) return `p${indexPair(foldText(key), foldText(value))}`;
  return key === undefined ? `v${indexTerm(foldText(value ?? ''))}` : `k${indexTerm(foldText(key))}`;
}

const noValues: ReadonlySet<string> = new Set();

/** The values of an inscription, in the form of the keys of entries. They are made when they are first needed. */
class ComparedInscription {
  readonly inscription: WatchedInscription;
  readonly #hasTerms: boolean;
  readonly #values = new Map<KeyName, ReadonlySet<string>>();

  constructor(inscription: WatchedInscription, hasTerms: boolean) {
    this.inscription = inscription;
    this.#hasTerms = hasTerms;
  }

  has(name: KeyName, value: string): boolean {
    return this.valuesOf(name).has(value);
  }

  valuesOf(name: KeyName): ReadonlySet<string> {
    let values = this.#values.get(name);
    if (values === undefined) {
      values = this.#read(name);
      this.#values.set(name, values);
    }
    return values;
  }

  #read(name: KeyName): ReadonlySet<string> {
    const { hashes, gallery, parents, metaprotocol, contentType } = this.inscription;
    switch (name) {
      case 'hash':
        return new Set(hashes);
      case 'gallery':
        return idsOf(gallery);
      case 'parent':
        return idsOf(parents);
      case 'term':
        return this.#terms();
      case 'metaprotocol':
        return metaprotocol === null ? noValues : new Set([latin1(metaprotocol)]);
      case 'contentType':
        return contentType === null ? noValues : new Set(typesOf(latin1(contentType)));
    }
  }

  #terms(): ReadonlySet<string> {
    const { metadataJson } = this.inscription;
    if (metadataJson === null || !this.#hasTerms) return noValues;
    const terms = metadataTerms(Buffer.from(metadataJson).toString());
    if (terms === null) return noValues;
    return new Set([
      ...terms.keys.map((term) => `k${term}`),
      ...terms.values.map((term) => `v${term}`),
      ...terms.pairs.map((term) => `p${term}`),
    ]);
  }
}

function idsOf(ids: Uint8Array | null): ReadonlySet<string> {
  if (ids === null) return noValues;
  const values = new Set<string>();
  for (let at = 0; at + idBytes <= ids.length; at += idBytes)
    values.add(latin1(ids.subarray(at, at + idBytes)));
  return values;
}

/** The exact type, and its class as `image/*`. A type that ends with an asterisk is only found by its class. */
function typesOf(contentType: string): string[] {
  const slash = contentType.indexOf('/');
  const types = contentType.endsWith('/*') ? [] : [contentType];
  return slash < 0 ? types : [...types, `${contentType.slice(0, slash)}/*`];
}

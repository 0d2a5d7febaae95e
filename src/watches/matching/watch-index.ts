import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { traitNeedle } from '#kernel/text/property-texts.ts';
import { indexTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { exactWordCheck, type WordCheck } from '#search/text/word-check.ts';
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
  readonly words: { readonly field: 'text' | 'metadata'; readonly check: WordCheck } | null;
  readonly hash: string | null;
  readonly gallery: string | null;
  readonly parent: string | null;
  readonly term: string | null;
  readonly metaprotocol: string | null;
  readonly contentType: string | null;
  readonly cursed: boolean | null;
}

/** A watch whose words must still be looked up in a text. All other conditions are true. */
export interface Undecided<Watch> {
  readonly watch: Watch;
  readonly check: Generator<void, boolean>;
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

  /**
   * Finds the watches that match an inscription.
   *
   * @param found is called once for each watch that matches
   * @returns watches that match if the text has their words
   */
  match(inscription: WatchedInscription, found: (watch: Watch) => void): Undecided<Watch>[] {
    const row = new ComparedInscription(inscription, this.#hasTerms);
    const candidates: Entry<Watch>[] = [];
    for (const name of fieldNames) {
      const entries = this.#byNeedle[name];
      this.#fields[name].match(inscription[name], (needle) => {
        for (const entry of entries[needle] ?? []) candidates.push(entry);
      });
    }
    for (const name of keyNames) {
      const entries = this.#byKey[name];
      if (entries.size === 0) continue;
      for (const value of row.valuesOf(name)) candidates.push(...(entries.get(value) ?? []));
    }
    return this.#decide(candidates, row, found);
  }

  #decide(
    candidates: readonly Entry<Watch>[],
    row: ComparedInscription,
    found: (watch: Watch) => void,
  ): Undecided<Watch>[] {
    const undecided: Undecided<Watch>[] = [];
    for (const entry of candidates) {
      if (!this.#passes(entry, row)) continue;
      const { watch, words } = entry;
      const text = words === null ? null : row.inscription[words.field];
      if (words === null) found(watch);
      else if (text !== null) undecided.push({ watch, check: words.check(text) });
    }
    return undecided;
  }

  #passes({ needles, cursed, ...entry }: Entry<Watch>, row: ComparedInscription): boolean {
    if (cursed !== null && row.inscription.cursed !== cursed) return false;
    if (!needles.every(({ field, number }) => this.#fields[field].has(number))) return false;
    return keyNames.every((name) => entry[name] === null || row.has(name, entry[name]));
  }

  #entryOf(watch: Watch, { corpus, match, needles, hash, filter }: SearchCondition): Entry<Watch> {
    const field = corpus === 'content' ? 'text' : 'metadata';
    const { title, traits = [] } = filter;
    const keys = keysOf(filter);
    if (keys.term !== null) this.#hasTerms = true;
    return {
      watch,
      needles: [
        ...needles.map((needle) => this.#needle(field, needle)),
        ...(title === undefined ? [] : [this.#needle('title', foldText(title))]),
        ...traits.map(({ name, value }) => this.#needle('traits', traitNeedle(name, value))),
      ],
      words: match === 'words' && needles.length > 0 ? { field, check: exactWordCheck(needles) } : null,
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

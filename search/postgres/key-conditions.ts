import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import { eachBit, type IdSet, intersect } from './id-set.ts';
import { indexedMaxOf, readByIndex } from './inscription-matcher.ts';
import type { IdColumn, KeyColumns, TypeColumn } from './key-columns.ts';
import { addKeys, allOf, keepRange, noneOf, type PartMatches } from './key-matches.ts';
import type { KeySet } from './key-sets.ts';
import type { Matching } from './search-context.ts';

/** Conditions on inscriptions in addition to their texts. An absent condition is always true. */
export interface KeyConditions {
  /** Each text of an inscription, by corpus, must be one of these ids. */
  readonly texts: readonly { readonly corpus: Corpus; readonly ids: IdSet }[];
  /** Keys from `first` to below `next`. */
  readonly range: { readonly first: number; readonly next: number };
  /** Content types, cut to `typeNameBytes`. */
  readonly isType?: (name: Buffer) => boolean;
  readonly cursed?: {
    readonly isCursed: boolean;
    /** The set of matching inscriptions without a number. */
    readonly unnumbered: KeySet;
  };
  readonly sets: readonly KeySet[];
}

/** Maximum number of parts checked in one turn of the event loop: a million keys, some 5 ms. */
const partsATurn = 16;

/** The inscriptions for which all conditions are true. Parts without matches are omitted. */
export async function matchKeys(
  matching: Matching,
  columns: KeyColumns,
  conditions: KeyConditions,
): Promise<PartMatches[]> {
  const { range, texts, sets } = conditions;
  let matches: PartMatches[] = [];
  for (const part of columns.parts) {
    if (part.nextKey <= range.first || part.firstKey >= range.next) continue;
    const all = allOf(part);
    keepRange(all, range.first, range.next);
    matches.push(all);
  }
  for (const { corpus, ids } of texts) matches = await keepTexts(matching, columns, matches, corpus, ids);
  for (const set of sets) matches = kept(await set(matches));
  let turn = 0;
  for (const one of matches) {
    if (conditions.isType !== undefined) keepTypes(one, await columns.types(one.part), conditions.isType);
    if (++turn % partsATurn === 0) await nextTurn();
  }
  if (conditions.cursed !== undefined) await keepCursed(columns, matches, conditions.cursed);
  return kept(matches);
}

const kept = (matches: readonly PartMatches[]): PartMatches[] =>
  matches.filter(({ bits }) => bits.some((byte) => byte !== 0));

/**
 * Keeps inscriptions with the wanted texts. Few texts are looked up by the index on inscriptions; for many texts, the
 * column is scanned.
 */
async function keepTexts(
  matching: Matching,
  columns: KeyColumns,
  matches: readonly PartMatches[],
  corpus: Corpus,
  ids: IdSet,
): Promise<PartMatches[]> {
  const count = ids.count();
  if (count === 0) return [];
  const found = matches.map(({ part }) => noneOf(part));
  const indexedMax = indexedMaxOf(matching, columns.parts.at(-1)?.nextKey ?? 0);
  const keys = count > indexedMax ? null : await readByIndex(matching, corpus, ids.ids(), indexedMax);
  if (keys === null) {
    for (const [at, { part, bits }] of found.entries()) {
      markIds(await columns.ids(part, corpus), ids.bits, bits);
      if (at % partsATurn === partsATurn - 1) await nextTurn();
    }
  } else addKeys(found, keys);
  for (const [at, { bits }] of found.entries()) intersect(bits, (matches[at] as PartMatches).bits);
  return kept(found);
}

// this runs for every inscription, so everything is in local variables
function markIds({ ids, offsets }: IdColumn, wanted: Uint8Array, bits: Uint8Array): void {
  const bound = wanted.length * 8;
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]!;
    // as an unsigned number, -1 exceeds every bound
    if (id >>> 0 >= bound || ((wanted[id >>> 3]! >>> (id & 7)) & 1) === 0) continue;
    const place = offsets === null ? index : offsets[index]!;
    bits[place >>> 3] = bits[place >>> 3]! | (1 << (place & 7));
  }
}

function keepTypes({ bits }: PartMatches, column: TypeColumn, isType: (name: Buffer) => boolean): void {
  const { names, codes } = column;
  const isWanted = [false, ...names.map(isType)];
  if (!isWanted.includes(true)) {
    bits.fill(0);
    return;
  }
  eachBit(bits.slice(), (index) => {
    if (isWanted[codes[index]!] === true) return;
    bits[index >>> 3] = bits[index >>> 3]! & ~(1 << (index & 7));
  });
}

/**
 * Keeps cursed inscriptions, or all others. Columns decide for inscriptions with a number. Few chains have inscriptions
 * without a number, so these are looked up only if there are any.
 */
async function keepCursed(
  columns: KeyColumns,
  matches: readonly PartMatches[],
  { isCursed, unnumbered }: NonNullable<KeyConditions['cursed']>,
): Promise<void> {
  const undecided: PartMatches[] = [];
  for (const [at, { part, bits }] of matches.entries()) {
    if (at % partsATurn === partsATurn - 1) await nextTurn();
    const { cursed, unknown } = await columns.numbers(part);
    const without = commonBits(bits, unknown);
    if (without !== null) undecided.push({ part, bits: without });
    keepNumbers(bits, cursed, unknown, isCursed);
  }
  if (undecided.length === 0) return;
  const decided = new Map((await unnumbered(undecided)).map(({ part, bits }) => [part, bits]));
  for (const { part, bits } of matches) {
    const more = decided.get(part);
    if (more === undefined) continue;
    for (let at = 0; at < bits.length; at++) bits[at] = bits[at]! | more[at]!;
  }
}

/** The bits that both bitmaps have. Null: no bit is common. */
function commonBits(bits: Uint8Array, others: Uint8Array): Uint8Array | null {
  for (let at = 0; at < bits.length; at++) {
    if ((bits[at]! & others[at]!) !== 0) return bits.map((byte, index) => byte & others[index]!);
  }
  return null;
}

function keepNumbers(bits: Uint8Array, cursed: Uint8Array, unknown: Uint8Array, isCursed: boolean): void {
  for (let at = 0; at < bits.length; at++) {
    const wanted = isCursed ? cursed[at]! : ~(cursed[at]! | unknown[at]!);
    bits[at] = bits[at]! & wanted;
  }
}

/** What JSON escapes: a text of 4 MB may have nothing else, and would be up to six times as large on its way. */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const escaped = /["\\\u0001-\u001f]/gu;

/** In no folded text, as folding makes small letters of them: one for each character that is escaped. */
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆ';
const capitalOf = new Map(
  ['"', '\\', ...Array.from({ length: 0x1f }, (_, control) => String.fromCodePoint(control + 1))].map(
    (character, at) => [character, capitals[at] as string],
  ),
);

const escapedOf = new Map([...capitalOf].map(([character, letter]) => [letter, character]));
const capital = new RegExp(`[${capitals}]`, 'gu');

/**
 * Ends every text: the grams of its end show needles of one and two code points by their beginnings. It is in no folded text
 * either, so no needle reaches into it.
 */
const textEnd = 'ÞÞ';

const unescaped = (folded: string): string =>
  folded.replace(escaped, (character) => capitalOf.get(character) ?? character);

/** A folded text as it is analysed into grams: code point by code point another one, so needles occur where they did. */
export const gramText = (folded: string): string => unescaped(folded) + textEnd;

/** A folded needle as it occurs in such texts. */
export const gramNeedle = unescaped;

/** The folded text of which `gramNeedle` made this one. */
export const foldedOfGram = (gram: string): string =>
  gram.replace(capital, (letter) => escapedOf.get(letter) ?? letter);

/** Stand for phrases (./phrase-book.ts): capitals of another alphabet, also in no folded text. */
export const phraseLetters = 'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏ';

/** Between two folded texts that are one term: a third letter that is in none. */
export const termBorder = 'Ÿ';

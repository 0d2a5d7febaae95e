/**
 * Characters that JSON escapes: a text of 4 MB may consist of nothing else, and would be up to six times as large in a
 * request.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const escaped = /["\\\u0001-\u001f]/gu;

/**
 * One substitute for each escaped character. They occur in no folded text, because folding makes small letters of
 * them.
 */
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆ';
const capitalOf = new Map(
  ['"', '\\', ...Array.from({ length: 0x1f }, (_, control) => String.fromCodePoint(control + 1))].map(
    (character, at) => [character, capitals[at] as string],
  ),
);

const escapedOf = new Map([...capitalOf].map(([character, letter]) => [letter, character]));
const capital = new RegExp(`[${capitals}]`, 'gu');

/**
 * Ends every text, so that the grams at its end begin with needles of one and two code points. It occurs in no folded
 * text, so no needle reaches into it.
 */
const textEnd = 'ÞÞ';

const unescaped = (folded: string): string =>
  folded.replace(escaped, (character) => capitalOf.get(character) ?? character);

/**
 * A folded text in the form that is analysed into grams: every code point maps to one, so needles occur at the same
 * places.
 */
export const gramText = (folded: string): string => unescaped(folded) + textEnd;

/** A folded needle in the form of such texts. */
export const gramNeedle = unescaped;

/** The folded text that `gramNeedle` made this one from. */
export const foldedOfGram = (gram: string): string =>
  gram.replace(capital, (letter) => escapedOf.get(letter) ?? letter);

/**
 * Letters that represent phrases (elastic/phrases/phrase-book.ts): capitals of another alphabet, which no folded text
 * has either.
 */
export const phraseLetters = 'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏ';

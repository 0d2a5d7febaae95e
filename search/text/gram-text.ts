/**
 * Characters that JSON escapes. A text of 4 MB may consist only of these, and would then be up to six times as large in
 * a request.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const escaped = /["\\\u0001-\u001f]/gu;

/**
 * One substitute for each escaped character. These letters occur in no folded text, because folding turns them into
 * small letters.
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
 * Added to the end of every text, so that the last grams begin with needles of one and two code points. It occurs in no
 * folded text, so no needle extends into it.
 */
const textEnd = 'ÞÞ';

const unescaped = (folded: string): string =>
  folded.replace(escaped, (character) => capitalOf.get(character) ?? character);

/**
 * A folded text in the form that is analysed into grams. Every code point becomes one code point, so needles occur at
 * the same positions.
 */
export const gramText = (folded: string): string => unescaped(folded) + textEnd;

/** A folded needle in the form of a gram text. */
export const gramNeedle = unescaped;

/** The folded text from which `gramNeedle` made this one. */
export const foldedOfGram = (gram: string): string =>
  gram.replace(capital, (letter) => escapedOf.get(letter) ?? letter);

/**
 * Letters that represent phrases (elastic/phrases/phrase-book.ts). They are capitals of another alphabet, which occur
 * in no folded text either.
 */
export const phraseLetters = 'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏ';

import { parseRune, type Rune, runeLetters } from './rune.ts';

/** A name, and the positions of its spacers. Bit n means a spacer after letter n. */
export interface SpacedRune {
  readonly rune: Rune;
  readonly spacers: number;
}

const spacer = '•';

/** Description of the form of a name, for messages. */
export const runeNameForm =
  'A name is capital letters, 28 at most and not above BCGDENLQRQWDSLRUGSNLBTMFIJAV, with single • or . between them';

/** The name in letters, with its spacers. Spacers after the last letter are legal and not shown, as in ord. */
export function formatSpacedRune({ rune, spacers }: SpacedRune): string {
  const letters = runeLetters(rune);
  if (spacers === 0) return letters;
  let text = '';
  for (let place = 0; place < letters.length; place++) {
    text += letters.charAt(place);
    if (place < letters.length - 1 && (spacers & (1 << place)) !== 0) text += spacer;
  }
  return text;
}

/**
 * Parses letters with `•` or `.` between them. `null` if a spacer is first, last or doubled, and for any other text.
 */
export function parseSpacedRune(text: string): SpacedRune | null {
  if (!/^[A-Z]+(?:[•.][A-Z]+)*$/u.test(text)) return null;
  const words = text.split(/[•.]/u);
  const rune = parseRune(words.join(''));
  if (rune === null) return null;
  let spacers = 0;
  let place = 0;
  for (const word of words.slice(0, -1)) {
    place += word.length;
    spacers |= 1 << (place - 1);
  }
  return { rune, spacers };
}

/** The first fault of a text that `parseSpacedRune` refuses, in the words of ord (ord spaced_rune.rs, rune.rs). */
export function whyNoSpacedRune(text: string): string {
  let before = '';
  for (const letter of text) {
    const isSpacer = letter === spacer || letter === '.';
    if (isSpacer && before === '') return 'leading spacer';
    if (isSpacer && before === spacer) return 'double spacer';
    if (!isSpacer && !/[A-Z]/u.test(letter)) return `invalid character \`${letter}\``;
    before = isSpacer ? spacer : letter;
  }
  return before === spacer ? 'trailing spacer' : 'name out of range';
}

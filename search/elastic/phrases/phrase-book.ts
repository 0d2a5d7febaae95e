import { gramNeedle, gramText, phraseLetters } from '#search/text/gram-text.ts';

/**
 * Maximum number of combinations for one needle. Beginnings and ends of needles may be parts of phrases, in any
 * combination. A book that allows more combinations is refused, so that 32 needles stay within the clauses that a
 * server with a small heap accepts.
 */
export const waysMax = 160;

/** Maximum length of a phrase. Longer boilerplate is split into a phrase of this length, and the rest. */
export const phraseLengthMax = 64;

/**
 * Parts of an encoded text that prove that the text itself contains a needle. One part is enough, and every such text
 * has one.
 */
export interface NeedleWays {
  /** Letters of phrases that contain the needle. */
  readonly phrases: readonly string[];
  /** Parts of an encoded text. */
  readonly parts: readonly string[];
}

interface Phrase {
  readonly text: string;
  readonly letter: string;
}

/**
 * Phrases that very many texts share. In the index each phrase is one letter that no text contains.
 * `{"p":"brc-20","op":"` and similar phrases make up most inscribed texts, and their grams would be in every second
 * document.
 *
 * A text is encoded from its beginning. Where phrases begin, the longest phrase is replaced, and the next code point is
 * always kept, so two letters are never adjacent. The encoding of a piece therefore depends only on the piece, except
 * at its ends: the piece may begin inside a phrase or just after one, and may end inside a phrase. This gives the
 * encodings of a needle.
 */
export class PhraseBook {
  /** The phrases, longest first. */
  readonly #phrases: readonly Phrase[];
  /** Phrases by their first UTF-16 unit. */
  readonly #byFirst: ReadonlyMap<number, readonly Phrase[]>;
  /** Whether a phrase begins with this unit. Most units begin no phrase, and texts have up to four million units. */
  readonly #isFirst = new Uint8Array(1 << 16);

  /**
   * Takes folded phrases. Throws if they outnumber the letters, or if a needle could appear in more than `waysMax`
   * ways.
   */
  constructor(folded: readonly string[]) {
    if (folded.length > phraseLetters.length) throw new RangeError(`${folded.length} phrases`);
    const phrases = folded.map((phrase, at) => ({
      text: gramNeedle(phrase),
      letter: phraseLetters[at] as string,
    }));
    this.#phrases = phrases.toSorted((a, b) => b.text.length - a.text.length);
    this.#byFirst = Map.groupBy(this.#phrases, ({ text }) => text.charCodeAt(0));
    for (const first of this.#byFirst.keys()) this.#isFirst[first] = 1;
    if (waysOf(phrases.map(({ text }) => text)) > waysMax) throw new RangeError('phrases overlap too much');
  }

  /** Returns null if the phrases are too many, or overlap too much, for one book. */
  static tryOf(folded: readonly string[]): PhraseBook | null {
    try {
      return new PhraseBook(folded);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }

  /**
   * A folded text in the form that is analysed into grams, with letters for its phrases. `shape` has these letters in a
   * fixed order. `shape` null: the text has no phrase.
   */
  encode(folded: string): { readonly text: string; readonly shape: string | null } {
    const whole = gramText(folded);
    const letters = new Set<string>();
    let text = '';
    let end = 0;
    for (const { at, letter, length } of this.#phrasesIn(whole)) {
      letters.add(letter);
      text += whole.slice(end, at) + letter;
      end = at + length;
    }
    return { text: text + whole.slice(end), shape: [...letters].toSorted().join('') || null };
  }

  /**
   * Remainder of a text (`gramNeedle`) without its phrases: the pieces between phrases, without the code point that
   * always follows a phrase.
   */
  restOf(text: string): string[] {
    const pieces: string[] = [];
    let from = 0;
    for (const { at, length } of this.#phrasesIn(text)) {
      pieces.push(text.slice(from, at));
      from = behind(text, at + length);
    }
    return [...pieces, text.slice(from)];
  }

  /** Length of a text (`gramNeedle`) in UTF-16 units, once its phrases are letters. */
  lengthOf(text: string): number {
    let length = text.length;
    for (const phrase of this.#phrasesIn(text)) length += 1 - phrase.length;
    return length;
  }

  *#phrasesIn(text: string): Generator<{ at: number; letter: string; length: number }> {
    for (let at = 0; at < text.length; ) {
      const phrase = this.#isFirst[text.charCodeAt(at)] === 1 ? this.#phraseAt(text, at) : undefined;
      if (phrase === undefined) {
        at++;
        continue;
      }
      const { letter, text: own } = phrase;
      yield { at, letter, length: own.length };
      at = behind(text, at + own.length);
    }
  }

  /** The ways in which a needle (`gramNeedle`) can appear in a text. */
  waysOf(needle: string): NeedleWays {
    const parts = new Set<string>();
    this.#follow(needle, '', 0, false, parts);
    this.#follow(needle, '', 0, true, parts);
    for (const { text, letter } of this.#phrases) {
      for (let shared = 1; shared < Math.min(text.length, needle.length); shared++) {
        if (needle.startsWith(text.slice(-shared))) this.#follow(needle, letter, shared, true, parts);
      }
    }
    const within = this.#phrases.filter(({ text }) => text.includes(needle));
    const letters = within.map(({ letter }) => letter);
    // a part with such a letter only proves that the text has the phrase
    return {
      phrases: letters,
      parts: [...parts].filter((part) => !letters.some((letter) => part.includes(letter))),
    };
  }

  /**
   * Adds the parts of a needle whose code points from `at` on are read in text order. `isBehind`: a phrase has just
   * ended, so the next code point is taken unchanged.
   */
  #follow(needle: string, head: string, at: number, isBehind: boolean, parts: Set<string>): void {
    let encoded = head;
    let isForced = isBehind;
    for (let from = at; from < needle.length; ) {
      const taken = isForced ? undefined : this.#phraseAt(needle, from);
      // a text that continues in the same manner has a longer phrase here
      if (!isForced && encoded !== '') this.#addEnds(needle.slice(from), encoded, parts);
      const next = taken?.text ?? String.fromCodePoint(needle.codePointAt(from) as number);
      encoded += taken?.letter ?? next;
      from += next.length;
      isForced = taken !== undefined;
    }
    parts.add(encoded);
  }

  #phraseAt(whole: string, at: number): Phrase | undefined {
    return this.#byFirst.get(whole.charCodeAt(at))?.find(({ text }) => whole.startsWith(text, at));
  }

  /** Adds phrases whose beginning is the end of the needle. */
  #addEnds(rest: string, encoded: string, parts: Set<string>): void {
    for (const { text, letter } of this.#phrases) {
      if (text.length > rest.length && text.startsWith(rest)) parts.add(encoded + letter);
    }
  }
}

/** The position after the code point at a position. */
const behind = (text: string, at: number): number => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/**
 * An upper bound for the number of parts of any needle: beginnings inside and after phrases, each combined with every
 * end inside a phrase.
 */
function waysOf(phrases: readonly string[]): number {
  const reversed = phrases.map((phrase) => Array.from(phrase).toReversed().join(''));
  return (2 + mostNested(reversed)) * (1 + mostNested(phrases));
}

/**
 * An upper bound for the proper beginnings of phrases that end a phrase. All of them can end at the same position of a
 * needle.
 */
function mostNested(phrases: readonly string[]): number {
  const beginnings = new Map<string, number>();
  for (const phrase of phrases) {
    for (let length = 1; length < phrase.length; length++) {
      const beginning = phrase.slice(0, length);
      beginnings.set(beginning, (beginnings.get(beginning) ?? 0) + 1);
    }
  }
  let most = 0;
  for (const longest of beginnings.keys()) {
    let nested = 0;
    for (let at = 0; at < longest.length; at++) nested += beginnings.get(longest.slice(at)) ?? 0;
    most = Math.max(most, nested);
  }
  return most;
}

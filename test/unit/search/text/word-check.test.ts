import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWithinEdits } from '#kernel/text/edit-distance.ts';
import { foldText } from '#kernel/text/fold.ts';
import { fuzzyPieces } from '#search/postgres/text-plan.ts';
import { exactWordCheck, fuzzyWordCheck } from '#search/text/word-check.ts';
import { editsOf, wordsBeginningWith, wordsOf, wordsOfFolded } from '#search/text/words.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { hasWords, naiveEdits } from '#test/support/search/naive-words.ts';

const letters = ['a', 'b', 'c', 'é', '\u0301', '漢', '𐐨', '7'];
const word = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 9 });
const between = fc.constantFrom(' ', '"', '😀', '\u2400', '_', '', '￿');
const text = fc
  .array(fc.tuple(word, between), { maxLength: 12 })
  .map((parts) => parts.map(([own, sign]) => own.join('') + sign).join(''));
const pointsOf = (own: readonly string[]): Int32Array =>
  Int32Array.from(own, (point) => point.codePointAt(0)!);

/** Edits a word several times. Each edit is to the right of the one before, so no part is edited twice. */
function edited(
  own: readonly string[],
  seeds: readonly { at: number; kind: number; letter: string }[],
): string[] {
  const points = [...own];
  let from = 0;
  for (const { at, kind, letter } of seeds) {
    if (from >= points.length) break;
    const place = from + (at % (points.length - from));
    if (kind === 0) points.splice(place, 0, letter);
    else if (kind === 1) points.splice(place, 1);
    else if (kind === 2) points.splice(place, 1, letter);
    else if (place + 1 < points.length) points.splice(place, 2, points[place + 1]!, points[place]!);
    from = place + [1, 0, 1, 2][kind]!;
  }
  return points;
}
const edits = fc.array(
  fc.record({ at: fc.nat(), kind: fc.nat({ max: 3 }), letter: fc.constantFrom('x', ...letters) }),
  { maxLength: 2 },
);

/** Runs a check to its end without pauses. Returns the check's outcome. */
function outcomeOf(parts: Generator<void, boolean>): boolean {
  for (let step = parts.next(); ; step = parts.next()) if (step.done === true) return step.value;
}

describe('words of a text', () => {
  test('are runs of letters, marks and digits of up to 64 code points, folded, each once', () => {
    expect(wordsOf('One, TWO-one "e\u0301t\u00e9" 漢字😀1a')).toEqual([
      'one',
      'two',
      'e\u0301t\u00e9',
      '漢字',
      '1a',
    ]);
    expect(wordsOf(`${'𐐀'.repeat(64)} ${'a'.repeat(65)} \0b`)).toEqual(['𐐨'.repeat(64), 'b']);
    expect(wordsOf(' \u2400.,')).toEqual([]);
  });

  test('that begin with some letters are those of all words', () => {
    fc.assert(
      fc.property(text, word, fc.nat(3), (value, drawn, length) => {
        const folded = foldText(value);
        const own = wordsOfFolded(folded)[0] ?? '';
        for (const from of [
          drawn.join(''),
          Array.from(own)
            .slice(0, length + 1)
            .join(''),
        ]) {
          const beginning = foldText(from);
          if (beginning === '') continue;
          const expected = wordsOfFolded(folded).filter((one) => one.startsWith(beginning));
          expect([...wordsBeginningWith(beginning, folded)]).toEqual(expected);
        }
      }),
      { numRuns: propertyRuns(300), examples: [[`${'a'.repeat(65)} ab ba`, ['a'], 0]] },
    );
  });

  test('may be further away the longer they are', () => {
    expect(['a', 'ab', '漢字', 'abc', '𐐨𐐨𐐨𐐨𐐨', 'abcdef', '𐐨'.repeat(64)].map(editsOf)).toEqual([
      0, 0, 0, 1, 1, 2, 2,
    ]);
  });

  test('are found in bytes as a scan of code points finds them', () => {
    fc.assert(
      fc.property(text, fc.array(word, { minLength: 1, maxLength: 3 }), edits, (value, drawn, seeds) => {
        const own = wordsOfFolded(value);
        const asked = [...drawn.map((one) => one.join('')), ...own.slice(0, 2)];
        const near = [...asked, ...own.slice(0, 1).map((one) => edited(Array.from(one), seeds).join(''))];
        const wanted = wordsOfFolded(near.join(' '));
        const bytes = Buffer.from(value);
        expect(outcomeOf(exactWordCheck(wanted)(bytes))).toBe(hasWords(value, wanted.join(' '), false));
        expect(outcomeOf(fuzzyWordCheck(wanted)(bytes))).toBe(hasWords(value, wanted.join(' '), true));
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test('of a long text are looked for in parts, which no word is cut by', () => {
    const words = Array.from(
      { length: 40 },
      (_, index) => `${'wort'.repeat(3)}${String(index).padStart(2, '0')}漢`,
    );
    // words at every distance from the borders between parts
    const text = Buffer.from(Array.from({ length: 60_000 }, (_, index) => `${words[index % 39]!} `).join(''));
    const wanted = words.slice(0, 39);
    for (const checkOf of [exactWordCheck, fuzzyWordCheck]) {
      expect(outcomeOf(checkOf(wanted)(text))).toBe(true);
      const last = Buffer.concat([text, Buffer.from('zuletzt')]);
      expect(outcomeOf(checkOf([...wanted, 'zuletzt'])(last))).toBe(true);
      expect(outcomeOf(checkOf([...wanted, 'niemals'])(last))).toBe(false);
      const parts = [...checkOf([...wanted, 'niemals'])(last)].length;
      expect(parts).toBeGreaterThan(checkOf === exactWordCheck ? 5 : 100);
    }
  });

  test('that are too long for one are not words, wherever their ends are', () => {
    const long = 'a'.repeat(65);
    for (const value of [long, `${long} `, ` ${long}`, `${'𐐨'.repeat(65)}`, `${long}b c`]) {
      expect(outcomeOf(exactWordCheck(['a'])(Buffer.from(value)))).toBe(false);
      expect(outcomeOf(fuzzyWordCheck(['a'.repeat(64)])(Buffer.from(value)))).toBe(false);
    }
    expect(outcomeOf(exactWordCheck(['a'.repeat(64), 'c'])(Buffer.from(`${'a'.repeat(64)}.c`)))).toBe(true);
  });
});

describe('edits between words', () => {
  test('are counted as in the whole table', () => {
    fc.assert(
      fc.property(word, word, edits, fc.boolean(), (a, other, seeds, isNear) => {
        const b = isNear ? edited(a, seeds) : other;
        for (const most of [0, 1, 2]) {
          const isWithin = isWithinEdits(pointsOf(a), a.length, pointsOf(b), b.length, most);
          expect(isWithin).toBe(naiveEdits(a, b) <= most);
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('leave one of the pieces as it is', () => {
    const longer = fc.array(fc.constantFrom(...letters), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(longer, edits, (own, seeds) => {
        const most = editsOf(own.join(''));
        const near = edited(own, seeds.slice(0, most)).join('');
        const pieces = fuzzyPieces([...pointsOf(own)], most).map((piece) => String.fromCodePoint(...piece));
        expect(pieces.some((piece) => near.includes(piece))).toBe(true);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

import { test } from 'vitest';
import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import type { ConformanceSubject } from './conformance-subject.ts';
import { text } from './search-rows.ts';

const swapped = (word: string, at: number): string => {
  const points = Array.from(word);
  [points[at], points[at + 1]] = [points[at + 1]!, points[at]!];
  return points.join('');
};

/** All words that one edit makes from a word, at each position. */
function editsOfWord(word: string): string[] {
  const points = Array.from(word);
  return points.flatMap((_, at) => [
    points.toSpliced(at, 1).join(''),
    points.toSpliced(at, 1, 'x').join(''),
    points.toSpliced(at, 0, '漢').join(''),
    swapped(word, Math.min(at, points.length - 2)),
  ]);
}

/** Tests searches for complete words, and for words that differ by a few edits. */
export function testWords(subject: () => ConformanceSubject): void {
  const expectWords = async (match: TextMatch, ...questions: string[]): Promise<void> => {
    for (const question of questions) {
      for (const corpus of ['content', 'metadata'] as const) {
        await subject().expectPage({ corpus, match, needles: [question] }, { page: 1, itemsPerPage: 1000 });
      }
    }
  };
  const addTexts = (texts: readonly string[]): Promise<void> =>
    subject().addBlock(texts.map((value) => ({ content: text(value), metadata: JSON.stringify(value) })));

  test('find whole words, in any order and between any signs, and no parts of words', async () => {
    await subject().clear();
    await addTexts([
      'one two three',
      'ONE,two;three',
      'three-two_one',
      'onetwo three',
      'two ones',
      'one',
      'oné one\u0301',
      'straße STRAẞE strasse',
      '漢字 漢',
      '漢字漢',
      '😀one😀two',
      'o n e',
      'ſ K \u212a s k',
      'a1 1a a 1',
      `${'w'.repeat(64)} ${'v'.repeat(65)}`,
      '𐐀'.repeat(64),
      `x${'𐐀'.repeat(64)}`,
      '',
      ' ',
    ]);
    for (const state of ['committed', 'taken up']) {
      if (state === 'taken up') await subject().takeUp();
      await expectWords('words', 'one', 'two', 'one two', 'THREE one TWO', 'one one', 'o', 'on', 'onetwo');
      await expectWords('words', 'oné', 'one\u0301', 'straße', 'Strasse', '漢', '漢字', 's', 'k', '1', 'a1');
      await expectWords('words', 'w'.repeat(64), 'w'.repeat(63), '𐐨'.repeat(64), 'nowhere', 'one nowhere');
      await expectWords('words', Array.from({ length: 60 }, (_, at) => `n${at}`).join(' '));
    }
  });

  test('find every word that is one or two edits away, but none that is more', async () => {
    for (const word of ['ab', 'abcde', 'abcdef', 'ßéab漢𐐀c']) {
      await subject().clear();
      const once = editsOfWord(word);
      // every ninth word, because all would be thousands
      const twice = once.flatMap((edited, at) =>
        editsOfWord(edited).filter((_, other) => (other + at) % 9 === 0),
      );
      const thrice = twice
        .filter((_, at) => at % 9 === 0)
        .flatMap((edited) => editsOfWord(edited).slice(0, 3));
      await addTexts([...new Set([word, ...once, ...twice, ...thrice])]);
      await subject().takeUp();
      await addTexts(once);
      await expectWords('fuzzy', word, word.toUpperCase(), `${word} ${once[0]}`);
      for (const edited of once.slice(0, 4)) await expectWords('fuzzy', edited);
    }
  });

  test('count a swap as one edit, and edit nothing twice', async () => {
    await subject().clear();
    await addTexts([
      'ca',
      'abc',
      'acb',
      'bac',
      'cab',
      'badcfe',
      'abdcfe',
      'abcdef',
      'bacdfe',
      'abcdfex',
      'a',
      'ab cd',
    ]);
    await subject().takeUp();
    await expectWords('fuzzy', 'ca', 'abc', 'acb', 'abcdef', 'badcfe', 'a', 'ab cd', 'abcdfe');
  });
}

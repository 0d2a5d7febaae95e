import { describe, expect, test } from 'vitest';
import { readQuestion } from '#search/text/text-question.ts';

const words = (text: string) => readQuestion({ text, phrase: false, match: 'words' });

describe('what a text asks for', () => {
  test('is needles, as they were given and folded', () => {
    expect(readQuestion({ text: 'Brc-20, MINT', phrase: false })).toEqual({
      match: 'substring',
      needles: ['Brc-20', 'MINT'],
      folded: ['brc-20', 'mint'],
    });
  });

  test('is its words, each once', () => {
    expect(words('The quick, the "Quick" 20€ – ſ')).toMatchObject({
      needles: ['the', 'quick', '20', 's'],
      folded: ['the', 'quick', '20', 's'],
    });
  });

  test('is refused with the reason', () => {
    expect(() => words(' – ,"!')).toThrow('text has no word to search for');
    expect(() => words('a'.repeat(65))).toThrow('a word is longer than 64 characters');
    expect(() => words(Array.from({ length: 65 }, (_, at) => `w${at}`).join(' '))).toThrow(
      'text has 65 words',
    );
    expect(() => readQuestion({ phrase: false })).toThrow('text is missing');
    expect(() => readQuestion({ phrase: false }, { cursed: true })).toThrow('text is missing');
  });

  test('may be missing where the filter asks for something', () => {
    const none = { needles: [], folded: [] };
    expect(readQuestion({ phrase: false }, { title: 'a' })).toMatchObject(none);
    expect(readQuestion({ phrase: false }, { metadata: { key: 'a' } })).toMatchObject(none);
  });
});

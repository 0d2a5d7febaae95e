import { expect, test } from 'vitest';
import { backupAdvice } from '#src/commands/wallet/backup-advice.ts';
import { newSeedWords } from '#wallet/seed-file.ts';

test('a terminal shows all words, numbered, in lines that fit it', () => {
  const words = newSeedWords();
  const shown = backupAdvice(words);
  const numbered = [...shown.matchAll(/(\d+) ([a-z]+)/gu)].map(([, number, word]) => [Number(number), word]);
  expect(numbered).toEqual(words.split(' ').map((word, place) => [place + 1, word]));
  expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110);
});

test('an output that is not a terminal shows none', () => {
  expect(backupAdvice(null)).toContain('are not printed');
});

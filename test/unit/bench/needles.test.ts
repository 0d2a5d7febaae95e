import { describe, expect, test } from 'vitest';
import { countedTexts, inscriptionsWith, makeNeedles } from '#bench/search/needles.ts';

const texts = countedTexts({
  seed: 'test',
  inscriptions: 5_000,
  shareOfCopies: 0.8,
  revealsPerBlock: 1_000,
  shareOfMoves: 0,
  tipBlocks: 1,
  revealsPerTipBlock: 500,
});

describe('needles of the search bench', () => {
  const needles = makeNeedles(texts, 'test', 50, 30);
  const all = Object.values(needles).flat();

  test('are the same for the same seed and never repeat', () => {
    expect(makeNeedles(texts, 'test', 50, 30)).toEqual(needles);
    expect(new Set(all.map((needle) => needle.join('\0'))).size).toBe(all.length);
  });

  test('match what their class says', () => {
    const total = texts.reduce((sum, { inscriptions }) => sum + inscriptions, 0);
    expect(total).toBe(5_500);
    for (const needle of needles.common) {
      expect(inscriptionsWith(texts, needle) / total).toBeGreaterThan(0.4);
      expect(inscriptionsWith(texts, needle) / total).toBeLessThan(0.6);
    }
    for (const needle of needles.deepPage) expect(inscriptionsWith(texts, needle)).toBeGreaterThan(100);
    for (const [needle] of needles.short) expect(Array.from(needle!).length).toBeLessThanOrEqual(2);
    expect(needles.punctuation[0]).toEqual(['":"']);
    expect(needles.rare.length).toBe(50);
  });
});

import { expect, test } from 'vitest';
import { chooseShowcase } from '#http/choose-showcase.ts';

test('the showcase has various kinds, no content twice, and keeps the order', () => {
  const newest = Array.from({ length: 500 }, (_, index) => ({
    key: 1_000 - index,
    contentId: index % 400,
    contentType: index % 50 === 49 ? 'image/png' : 'text/plain',
  }));
  const chosen = chooseShowcase(newest);
  const kinds = chosen.map((key) => newest[1_000 - key]!.contentType);
  expect(kinds.filter((kind) => kind === 'image/png')).toHaveLength(8);
  expect(kinds.filter((kind) => kind === 'text/plain')).toHaveLength(6);
  expect(chosen.toSorted((a, b) => b - a)).toEqual(chosen);
  expect(new Set(chosen.map((key) => newest[1_000 - key]!.contentId)).size).toBe(chosen.length);
});

test('the showcase leaves out what has no content of its own', () => {
  expect(chooseShowcase([{ key: 1, contentId: null, contentType: 'image/png' }])).toEqual([]);
});

import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type CoveredBlocks, resultsPage } from '#web/pages/results.page.ts';

const hash = 'ab'.repeat(32);

function headline(
  coverage: CoveredBlocks,
  totalItems: number,
  filters: Readonly<Record<string, string>> = {},
): string {
  return /<h1 class="count">(.*?)<\/h1>/u.exec(pageOf(coverage, totalItems, filters))?.[1] ?? '';
}

function pageOf(
  coverage: CoveredBlocks,
  totalItems: number,
  filters: Readonly<Record<string, string>>,
): string {
  return resultsPage({
    site: { network: 'mainnet', tipHeight: asHeight(951_658), banner: null },
    query: hash,
    question: { kind: 'hash', hash, coverage },
    cards: [],
    page: 1,
    totalItems,
    totalPages: totalItems,
    parameters: { hash, ...filters },
    overview: null,
    numbered: null,
    height: null,
    rune: null,
    sat: null,
  }).text;
}

test('a content is new among the blocks that are indexed, and the headline names them', () => {
  const demo = { fromHeight: asHeight(767_430), toHeight: asHeight(840_000), blocks: 12, complete: false };
  expect(headline(demo, 0)).toBe(
    'New among 12 indexed blocks of heights 767,430 to 840,000: no inscription there has this content',
  );
  expect(headline(demo, 2)).toBe(
    'Inscribed 2 times already among 12 indexed blocks of heights 767,430 to 840,000, first by',
  );
  const one = { fromHeight: asHeight(5), toHeight: asHeight(5), blocks: 1, complete: false };
  expect(headline(one, 0)).toContain('among 1 indexed block of height 5:');
  const whole = {
    fromHeight: asHeight(767_430),
    toHeight: asHeight(890_123),
    blocks: 122_694,
    complete: true,
  };
  expect(headline(whole, 0)).toBe('New up to block 890,123: no inscription there has this content');
  expect(headline(whole, 1)).toBe('Inscribed once already, first by');
  const nothing = { fromHeight: null, toHeight: null, blocks: 0, complete: false };
  expect(headline(nothing, 0)).toContain('where no block is indexed');
});

test('a search with filters does not call a content new, and one in another order names no first inscription', () => {
  const whole = {
    fromHeight: asHeight(767_430),
    toHeight: asHeight(890_123),
    blocks: 122_694,
    complete: true,
  };
  expect(headline(whole, 0, { from: '800000' })).toBe('0 inscriptions of this content pass these filters');
  expect(pageOf(whole, 0, { from: '800000' })).not.toContain('is not the hash of any content');
  expect(headline(whole, 1, { contentType: 'image/*' })).toBe(
    '1 inscription of this content passes these filters',
  );
  expect(headline(whole, 2, { sort: 'length' })).toBe('Inscribed 2 times already');
  expect(headline(whole, 2, { order: 'desc' })).toBe('Inscribed 2 times already');
});

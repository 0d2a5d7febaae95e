import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type CoveredBlocks, type ResultsView, resultsPage } from '#web/pages/results.page.ts';

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
  {
    meanings = [],
    pendingCards = 0,
    question = { kind: 'hash', hash, coverage },
  }: Partial<Pick<ResultsView, 'meanings' | 'pendingCards' | 'question'>> = {},
): string {
  return resultsPage({
    site: { network: 'mainnet', tipHeight: asHeight(951_658), banner: null },
    query: hash,
    question,
    cards: [],
    page: 1,
    totalItems,
    totalPages: totalItems,
    parameters: { hash, ...filters },
    overview: null,
    meanings,
    misses: [],
    pendingCards,
    others: [],
  }).text;
}

test('a content is new within the indexed blocks, which the headline names', () => {
  const demo = { fromHeight: asHeight(767_430), toHeight: asHeight(840_000), blocks: 12, complete: false };
  expect(headline(demo, 0)).toBe(
    'New among 12 indexed blocks of heights 767,430 to 840,000: no inscription there has this content',
  );
  expect(headline(demo, 2)).toBe(
    'Already inscribed 2 times among 12 indexed blocks of heights 767,430 to 840,000, first by',
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
  expect(headline(whole, 1)).toBe('Already inscribed once, first by');
  const nothing = { fromHeight: null, toHeight: null, blocks: 0, complete: false };
  expect(headline(nothing, 0)).toContain('where no block is indexed');
});

test('a search with filters never calls a content new, and another order names no first inscription', () => {
  const whole = {
    fromHeight: asHeight(767_430),
    toHeight: asHeight(890_123),
    blocks: 122_694,
    complete: true,
  };
  expect(headline(whole, 0, { from: '800000' })).toBe('0 inscriptions of this content match these filters');
  expect(pageOf(whole, 0, { from: '800000' })).not.toContain('is not the hash of any content');
  expect(headline(whole, 1, { contentType: 'image/*' })).toBe(
    '1 inscription of this content matches these filters',
  );
  expect(headline(whole, 2, { sort: 'length' })).toBe('Already inscribed 2 times');
  expect(headline(whole, 2, { order: 'desc' })).toBe('Already inscribed 2 times');
});

const whole = { fromHeight: asHeight(0), toHeight: asHeight(5), blocks: 6, complete: true };

test('contents in the mempool are not called inscribed, and a txid is not called a new content', () => {
  const heading = (totalItems: number, more: Parameters<typeof pageOf>[3]): string =>
    /<h1 class="count">(.*?)<\/h1>/u.exec(pageOf(whole, totalItems, {}, more))?.[1] ?? '';
  expect(heading(1, { pendingCards: 1 })).toBe(
    'In no block yet: 1 pending inscription would have this content',
  );
  expect(heading(3, { pendingCards: 1 })).toBe('Already inscribed 3 times, the mempool included, first by');
  const transaction = {
    kind: 'transaction',
    label: hash,
    path: `/tx/${hash}`,
    why: 'has this id',
    facts: [],
    art: null,
    isPossible: false,
  } as const;
  expect(heading(0, { meanings: [transaction] })).toBe('Not the hash of a content');
  const page = pageOf(whole, 0, {}, { meanings: [transaction] });
  expect(page).toContain(`<a href="/tx/${hash}">`);
  expect(page).not.toContain('class="button" href="/inscribe"');
  expect(page).not.toContain('class="filters"');
  expect(pageOf(whole, 0, {})).toContain('<a class="button" href="/inscribe">');
});

test('codes look like codes, and names like names', () => {
  const card = (kind: 'address' | 'rune', label: string): string =>
    pageOf(
      whole,
      0,
      {},
      {
        meanings: [{ kind, label, path: '/', why: '', facts: [], art: null, isPossible: true }],
      },
    );
  expect(card('address', 'bc1q')).toContain('<b class="mono">bc1q</b>');
  expect(card('rune', 'A•B')).toContain('<b class="wrap"><bdi>A•B</bdi></b>');
});

test('names of strangers on cards are texts with their own direction', () => {
  const hostile = '<script>alert(1)</script>\u202e';
  const page = pageOf(
    whole,
    0,
    {},
    {
      meanings: [
        {
          kind: 'collection',
          label: hostile,
          path: '/collection/x',
          why: 'has this name',
          facts: [hostile],
          art: { kind: 'icon', id: `${hash}i0` },
          isPossible: false,
        },
      ],
    },
  );
  expect(page).not.toContain('<script>alert');
  expect(page.match(/<bdi>&lt;script&gt;/gu)).toHaveLength(2);
  expect(page).toContain(`<img class="thumbnail" src="/thumbnails/${hash}i0.webp" alt=""`);
});

test('a stranger’s text does not change the direction of the page’s head', () => {
  const query = 'a\u202eb\u200b "c"';
  const { text } = resultsPage({
    site: { network: 'mainnet', tipHeight: null, banner: null },
    query,
    question: { kind: 'text', where: 'content', match: 'substring', needles: [query] },
    cards: [],
    page: 1,
    totalItems: 0,
    totalPages: 0,
    parameters: { text: query },
    overview: null,
    meanings: [],
    misses: [],
    pendingCards: 0,
    others: [],
  });
  const head = text.slice(0, text.indexOf('</head>'));
  expect(head).toContain('<title>ab &quot;c&quot; · Satscribe</title>');
  expect(head).not.toMatch(/[\u202e\u200b]/u);
  expect(text).toContain('value="a\u202eb\u200b &quot;c&quot;"');
});

test.each([
  [['ab'], 'substring', false],
  [['abc', 'é'], 'substring', false],
  [['éa', 'abc'], 'substring', true],
  [['ab'], 'words', true],
] as const)(
  'a search for %j as %s offers a watch only if a watch can be saved: %s',
  (needles, match, offers) => {
    const question = { kind: 'text', where: 'content', needles, match } as const;
    const blocks = { fromHeight: asHeight(0), toHeight: asHeight(1), blocks: 2, complete: true };
    expect(pageOf(blocks, 0, {}, { question }).includes('Watch this search')).toBe(offers);
  },
);

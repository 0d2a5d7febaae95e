import { describe, expect, test } from 'vitest';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { type BlockTabView, type BlockView, blockPage } from '#web/pages/block.page.ts';
import { blocksPage } from '#web/pages/blocks.page.ts';
import type { SaleLine } from '#web/parts/sale-rows.ts';

const id = `${'ab'.repeat(32)}i0`;
const site = { network: 'mainnet', tipHeight: asHeight(900_000), banner: null };
const block = {
  height: asHeight(840_000),
  hash: displayHash(asBlockHash(Buffer.alloc(32, 7))),
  time: 1_713_571_767,
  sizeBytes: 2_325_617,
  txCount: 3050,
  inscriptionCount: 2,
  islandHeight: asHeight(0),
  anchored: true,
  hasSpent: true,
  sequenced: true,
  numbered: true,
};
const sale: SaleLine = {
  inscriptionId: id,
  name: '<b>Moth</b>',
  collection: null,
  class: 'sale',
  price: 70_000,
  time: block.time,
  txid: 'cd'.repeat(32),
  maker: 'bc1qmaker',
  taker: null,
  wash: true,
};
const rune = {
  name: 'DOG•GO',
  symbol: null,
  id: '840000:3',
  number: 3,
  height: block.height,
  mints: 5,
  cap: '10',
  mintedPercent: 50,
  isOpen: true,
};
const inscriptions: BlockTabView = {
  tab: 'inscriptions',
  kinds: [
    { words: 'All', href: '/block/840000', isCurrent: true },
    { words: 'Images', href: '/block/840000?kind=images', isCurrent: false },
  ],
  cards: [
    { id, number: 5, height: block.height, contentType: 'image/png', sizeBytes: 10, text: null, runs: null },
  ],
  steps: { page: 1, totalPages: 1 },
};
const view: BlockView = {
  site,
  block,
  previous: asHeight(839_999),
  next: asHeight(840_003),
  reward: { subsidy: 312_500_000, fees: 3_762_670_000 },
  sales: { known: { count: 1, isLeast: false } },
  runes: { known: 1 },
  shown: inscriptions,
};
const shown = (changes: Partial<BlockView> = {}): string => blockPage({ ...view, ...changes }).text;

describe('the page of a block', () => {
  test('has fees, subsidy, neighbours, and the numbers of inscriptions, sales and etchings', () => {
    for (const part of [
      '<dt>Fees</dt><dd>37.6267 BTC</dd>',
      '<dt>Subsidy</dt><dd>3.125 BTC</dd>',
      'href="/block/839999" rel="prev"',
      '2 blocks in between are not indexed',
      `data-copy="${block.hash}"`,
      'data-copy="840000"',
      'Inscriptions <span class="faint">2</span>',
      'Sales <span class="faint">1</span>',
      'href="/block/840000?kind=images"',
      `href="/inscription/${id}"`,
      '3,050 transactions, 2 inscriptions, 1 sale, 1 etched rune.">',
    ])
      expect(shown()).toContain(part);
    expect(shown()).not.toContain('<dt>Known</dt>');
    expect(shown({ block: { ...block, hasSpent: false } })).toContain('<dt>Known</dt>');
  });

  test('says what is unknown, and why', () => {
    const unknown = shown({
      reward: { subsidy: 1, fees: null },
      sales: { unknown: 'sales are not indexed here' },
      runes: { unknown: 'no runes' },
      shown: {
        tab: 'sales',
        sales: { unknown: 'sales are not indexed here' },
        steps: { page: 1, totalPages: 0 },
      },
    });
    expect(unknown).toContain('unknown: there is neither a node nor the spent outputs of the block');
    expect(unknown).toContain('unknown: sales are not indexed here');
    expect(unknown).toContain('<span>Sales</span>');
    expect(unknown).toContain('3,050 transactions, 2 inscriptions.">');
    expect(shown({ sales: { known: { count: 10_000, isLeast: true } } })).toContain('10,000+');
  });

  test('lists its sales and its runes in pages of their own', () => {
    const sales = shown({
      shown: { tab: 'sales', sales: { known: [sale] }, steps: { page: 1, totalPages: 2 } },
    });
    expect(sales).toContain('&lt;b&gt;Moth');
    expect(sales).toContain(`href="/sale/${sale.txid}"`);
    expect(sales).toContain('href="/block/840000?tab=sales&amp;page=2" rel="next"');
    expect(sales).toMatch(/\?tab=sales" aria-current="page"/u);
    const runes = shown({
      shown: { tab: 'runes', runes: { known: [rune] }, steps: { page: 1, totalPages: 1 } },
    });
    expect(runes).toContain('href="/rune/DOG%E2%80%A2GO"');
    expect(runes).not.toContain('Etched in');
  });

  test('says that a list is empty, or that a page is past its end', () => {
    const empty = (tab: BlockTabView): string => shown({ shown: tab });
    const steps = { page: 1, totalPages: 0 };
    expect(shown({ block: { ...block, inscriptionCount: 0 } })).toContain('Nothing was inscribed');
    expect(
      empty({ ...inscriptions, cards: [], steps: { page: 9, totalPages: 1 } } as BlockTabView),
    ).toContain('Page 9 is past the end.');
    expect(empty({ tab: 'sales', sales: { known: [] }, steps })).toContain('No inscription was sold');
    expect(empty({ tab: 'runes', runes: { known: [] }, steps })).toContain('No rune was etched');
    const ofKind = (next: string | null): string =>
      empty({
        ...inscriptions,
        cards: [],
        steps: { first: '/block/840000?kind=video', next },
      } as BlockTabView);
    expect(ofKind(null)).toContain('No inscription of this block is of that kind.');
    expect(ofKind('/block/840000?kind=video&after=7')).toContain('Later ones may match');
    expect(ofKind('/block/840000?kind=video&after=7')).toContain(
      'href="/block/840000?kind=video&amp;after=7"',
    );
  });
});

test('the list of blocks leads to older ones', () => {
  const page = blocksPage({ site, blocks: [block], below: asHeight(839_999) }).text;
  expect(page).toContain('href="/blocks?from=839999" rel="next"');
  expect(blocksPage({ site, blocks: [], below: null }).text).toContain('No block is indexed here.');
});

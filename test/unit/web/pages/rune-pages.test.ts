import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type RuneTermsView, type RuneView, runePage } from '#web/pages/rune.page.ts';
import { type RuneHoldersView, runeHoldersPage } from '#web/pages/rune-lists.page.ts';
import { percentWords } from '#web/parts/mint-bar.ts';

const site = { network: 'mainnet', tipHeight: asHeight(900), banner: null };
const rune = { name: 'DOG•GO', id: '840000:3', symbol: '<' };
const terms: RuneTermsView = {
  state: 'open',
  amount: '100',
  mints: 999_999,
  cap: '1000000',
  left: '1',
  percent: 99.9999,
  first: '840000',
  last: '850000',
};
const view: RuneView = {
  site,
  rune,
  number: 3,
  height: asHeight(840_000),
  timestamp: 1_713_571_767,
  etching: 'ab'.repeat(32),
  parent: `${'ab'.repeat(32)}i0`,
  divisibility: 5,
  turbo: false,
  supply: '99999900.5',
  supplyMax: '100000000.5',
  premine: '0.5',
  minted: '99999900',
  burned: '0',
  terms,
  activity: [],
};
const shown = (changes: Partial<RuneTermsView> | null = {}): string =>
  runePage({ ...view, terms: changes === null ? null : { ...terms, ...changes } }).text;

describe('the page of a rune', () => {
  test('has its supply, and its terms in words', () => {
    for (const part of [
      '99,999,900.5 &lt;',
      'of at most 100,000,000.5 &lt;',
      'from block 840,000 until block 850,000',
      '999,999 of 1,000,000 (99.99 %), 1 left',
      `href="/tx/${'ab'.repeat(32)}"`,
      `href="/inscription/${'ab'.repeat(32)}i0"`,
      'href="/rune/DOG%E2%80%A2GO/holders"',
      'aria-current="page">Rune<',
    ])
      expect(shown()).toContain(part);
    expect(shown({ first: null, last: null })).toContain('at any height');
    expect(shown({ first: null })).toContain('</span> until block 850,000');
    expect(shown({ state: 'used-up' })).toContain('used up');
    expect(shown({ state: 'ended' })).not.toContain('of at most');
    expect(shown(null)).toContain('it cannot be minted: all units are from the premine');
  });
});

test('remaining mints are never rounded away', () => {
  expect([0, 0.0001, 33.3333, 99.9999, 100].map(percentWords)).toEqual([
    '0 %',
    'below 0.01 %',
    '33.33 %',
    '99.99 %',
    '100 %',
  ]);
});

describe('the page of holders', () => {
  const holder = { address: null, script: null, scriptSha256: null, amount: '5', percent: 50, outputs: 2 };
  const holders: RuneHoldersView = {
    site,
    rune,
    height: asHeight(900),
    count: 203,
    held: '10',
    burned: '1',
    minted: '6',
    premine: '5',
    isProven: true,
    rank: 101,
    holders: [
      { ...holder, address: 'bc1qexample' },
      { ...holder, script: `6a${'00'.repeat(40)}` },
      { ...holder, scriptSha256: 'cd'.repeat(32) },
    ],
    first: 'at=900',
    next: 'at=900&cursor=x',
  };

  test('names each owner, with the rank among all', () => {
    const { text } = runeHoldersPage(holders);
    expect(text).toContain('href="/address/bc1qexample"');
    expect(text).toContain('data-copy="6a00');
    expect(text).toContain('script with sha256');
    for (const rank of [101, 102, 103]) expect(text).toContain(`data-label="Rank">${rank}<`);
    expect(text).toContain('href="/rune/DOG%E2%80%A2GO/holders?at=900&amp;cursor=x" rel="next"');
    expect(text).toContain(
      'Proven: 5 &lt; premined and 6 &lt; minted equal the held units and 1 &lt; burned.',
    );
  });

  test('links to the first page of the same list, unless it is the first or the only one', () => {
    expect(runeHoldersPage(holders).text).toContain('/holders?at=900">« First page<');
    expect(runeHoldersPage({ ...holders, first: '' }).text).toContain('/holders">« First page<');
    expect(runeHoldersPage({ ...holders, first: null }).text).not.toContain('First page');
    expect(runeHoldersPage({ ...holders, first: null, next: null }).text).not.toContain('class="steps"');
  });

  test('says that a sum differs, or that there are no holders', () => {
    expect(runeHoldersPage({ ...holders, isProven: false }).text).toContain('A sum is wrong here');
    expect(runeHoldersPage({ ...holders, count: 0, holders: [], next: null }).text).toContain(
      'No one holds it.',
    );
  });
});

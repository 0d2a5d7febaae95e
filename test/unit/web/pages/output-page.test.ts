import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type OutputView, outputPage } from '#web/pages/output.page.ts';

const txid = 'ab'.repeat(32);
const card = {
  id: `${txid}i0`,
  number: 5,
  height: asHeight(7),
  contentType: 'image/png',
  sizeBytes: 10,
  text: null,
  runs: null,
};
const view: OutputView = {
  site: { network: 'mainnet', tipHeight: asHeight(900_000), banner: null },
  outpoint: `${txid}:3`,
  kind: 'output',
  value: 546,
  address: 'bc1qowner',
  script: 'P2WPKH',
  spent: { kind: 'unspent' },
  block: { height: asHeight(840_000), time: 1_713_571_767 },
  isPending: false,
  cards: [card],
  pendingCards: [],
  inscriptionCount: 1,
  runes: [{ name: 'DOG•GO', amount: '7', symbol: '<' }],
  isAllRunes: true,
  ranges: [{ start: 5_000_000_000, end: 5_000_000_546, satributes: [{ id: 'pizza', title: 'Pizza' }] }],
  rangeCount: 1,
  why: null,
};
const shown = (changes: Partial<OutputView> = {}): string => outputPage({ ...view, ...changes }).text;

test('an output has its value, owner, place, and contents', () => {
  for (const part of [
    '546 sats',
    'href="/address/bc1qowner"',
    'unspent</span>',
    `href="/tx/${txid}"`,
    '<a href="/block/840000">840,000</a>, 2024-04-20 00:09 UTC',
    `href="/inscription/${card.id}"`,
    'href="/rune/DOG%E2%80%A2GO"',
    'href="/sat/5000000000"',
    'href="/sat/5000000545"',
    'href="/satributes/pizza"',
    `href="/r/utxo/${txid}:3">Its contents, as JSON`,
  ])
    expect(shown()).toContain(part);
});

test('a spent output has its former contents, and a pending one its future ones', () => {
  const spent = { kind: 'spent', txid: 'cd'.repeat(32), height: asHeight(9) } as const;
  expect(shown({ spent })).toContain('Inscriptions before it was spent');
  expect(shown({ spent, cards: [], inscriptionCount: 0 })).toContain('It held no inscription.');
  const pending = { id: card.id, contentType: null, sizeBytes: null, text: null, fee: 100, vsize: 100 };
  const page = shown({
    block: null,
    isPending: true,
    cards: [],
    inscriptionCount: 0,
    pendingCards: [pending],
  });
  expect(page).toContain('waits in the mempool');
  expect(page).toContain('1 sat/vB');
});

test('unknown facts are named, and long lists are truncated', () => {
  const page = shown({
    value: null,
    block: null,
    inscriptionCount: null,
    runes: null,
    ranges: null,
    why: 'pruned',
  });
  for (const words of ['Some facts are unknown here: pruned.', 'unknown: its block is not indexed here'])
    expect(page).toContain(words);
  expect(page).not.toContain('<h2>Runes');
  const long = shown({ inscriptionCount: 1_200, isAllRunes: false, rangeCount: 300 });
  for (const words of ['the first 1 of 1,200', 'the first 1<', 'the first 1 of 300 ranges'])
    expect(long).toContain(words);
});

test('the places of lost and unbound inscriptions are not outputs', () => {
  expect(shown({ kind: 'lost' })).toContain('Inscriptions that were lost in fees');
  expect(shown({ kind: 'unbound' })).toContain('This is not a real output');
  expect(shown({ kind: 'unbound' })).not.toContain('/r/utxo/');
});

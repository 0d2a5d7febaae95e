import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type AddressView, addressPage } from '#web/pages/address.page.ts';

const txid = 'ab'.repeat(32);
const id = `${txid}i0`;
const view: AddressView = {
  site: { network: 'mainnet', tipHeight: asHeight(900_000), banner: null },
  address: 'bc1qowner',
  inscriptions: { count: 10_000, isLeast: true },
  runes: { count: 2, isLeast: false },
  outputs: { count: 3, isLeast: false, sats: 1_546 },
  gap: null,
  shown: { tab: 'inscriptions', cards: [] },
  isLater: false,
  next: null,
};
const shown = (changes: Partial<AddressView> = {}): string => addressPage({ ...view, ...changes }).text;

test('an address has its totals, and names unknown ones', () => {
  for (const part of ['<dd>more than 10,000</dd>', '<dd>2</dd>', '1,546 sats', 'data-copy="bc1qowner"'])
    expect(shown()).toContain(part);
  const unknown = shown({ inscriptions: null, runes: null, outputs: null, gap: 'Blocks are missing.' });
  for (const words of [
    'the index of owners is still being built',
    'they are not indexed here',
    'addresses are not indexed here',
    'Blocks are missing.',
  ])
    expect(unknown).toContain(words);
  expect(shown({ outputs: { count: 10_000, isLeast: true, sats: 5 } })).toContain(
    '10,000 outputs are not summed',
  );
});

test('each tab has its rows, or says that it is empty', () => {
  expect(shown()).toContain('This address has no inscriptions.');
  expect(shown({ isLater: true })).toContain('There is nothing on this page.');
  expect(shown({ shown: { tab: 'runes', runes: null } })).toContain('unknown: runes are not indexed here');
  expect(shown({ shown: { tab: 'runes', runes: [] } })).toContain('This address has no runes.');
  expect(shown({ shown: { tab: 'outputs', outputs: null } })).toContain('unknown: addresses are not indexed');
  expect(shown({ shown: { tab: 'outputs', outputs: [] } })).toContain('This address has no unspent outputs.');
  const holds = {
    inscriptions: [{ id, number: null }],
    inscriptionCount: 1,
    runes: [],
    runeCount: 0,
    satributes: [],
    unknown: null,
  };
  const outputs = [{ outpoint: `${txid}:1`, value: 546, height: 7, holds }];
  const page = shown({ shown: { tab: 'outputs', outputs }, next: '7.x.1', isLater: true });
  expect(page).toContain(`href="/output/${txid}:1"`);
  expect(page).toContain(`href="/inscription/${id}"`);
  expect(page).toContain('href="/address/bc1qowner?tab=outputs&amp;after=7.x.1" rel="next"');
  expect(page).toContain('href="/address/bc1qowner?tab=outputs" rel="first"');
});

test('the pending tab has reveals, moves and runes', () => {
  const none = { tab: 'pending', isFollowed: true, cards: [], moves: [], runes: [] } as const;
  expect(shown({ shown: { ...none, isFollowed: false } })).toContain('no mempool is being followed here');
  expect(shown({ shown: none })).toContain('Nothing in the mempool concerns this address.');
  const page = shown({
    shown: {
      ...none,
      cards: [{ id, contentType: null, sizeBytes: null, text: null, fee: null, vsize: 1 }],
      moves: [{ inscription: { id, number: null }, txid, from: null, to: 'bc1qto', fee: 300, vsize: 100 }],
      runes: [{ rune: { name: 'DOG•GO', amount: '7', symbol: null }, sent: '2' }],
    },
  });
  for (const part of [
    'Inscribed to this address',
    'href="/address/bc1qto"',
    `href="/tx/${txid}"`,
    '3 sat/vB',
    'href="/rune/DOG%E2%80%A2GO"',
    'data-label="Leaves">2<',
  ])
    expect(page).toContain(part);
});

import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import {
  type MempoolTabView,
  type MempoolView,
  mempoolPage,
  type PendingRuneLine,
} from '#web/pages/mempool.page.ts';

const id = `${'ab'.repeat(32)}i0`;
const txid = 'cd'.repeat(32);
const line: PendingRuneLine = {
  kind: 'minted',
  name: 'DOG•GO',
  isEtched: true,
  amount: '12345.5',
  symbol: '<',
  problem: null,
  txid,
  seen: 1_713_571_767,
  fee: 1_000,
  vsize: 200,
};
const card = { id, contentType: 'text/plain', sizeBytes: 3, text: '<b>', fee: null, vsize: 150 };
const kinds = [
  { words: 'All', href: '/mempool', isCurrent: true },
  { words: 'Images', href: '/mempool?kind=images', isCurrent: false },
];
const inscriptions: MempoolTabView = { tab: 'inscriptions', kinds, cards: [card], next: null };
const view: MempoolView = {
  site: { network: 'mainnet', tipHeight: asHeight(900_000), banner: null },
  state: { isFollowed: true, words: 'followed', since: 1_713_571_767, kept: 5, leftOut: 0 },
  whole: { transactions: 60_000, vsize: 31_000_000, fees: 5_000 },
  fees: [{ words: 'An hour', rate: 7 }],
  outlook: '1 of 2 pay',
  shown: inscriptions,
  isLater: false,
};
const shown = (changes: Partial<MempoolView> = {}): string => mempoolPage({ ...view, ...changes }).text;
const runes = (...lines: PendingRuneLine[]): string =>
  shown({ shown: { tab: 'runes', runes: { known: lines }, next: null } });

describe('the page of the mempool', () => {
  test('has its state, its size, fee rates and the outlook', () => {
    for (const part of [
      '60,000, 31,000,000 vbytes, about 31 blocks',
      '<dt>Next block</dt><dd>1 of 2 pay</dd>',
      '<dt>An hour</dt><dd>7 sat/vB</dd>',
      `href="/inscription/${id}"`,
      '&lt;b&gt;',
      'fee unknown',
      'href="/mempool?kind=images"',
    ])
      expect(shown()).toContain(part);
    expect(shown()).not.toContain('left out');
    expect(shown({ state: { ...view.state!, leftOut: 1_200 } })).toContain(
      '1,200 left out because there was no room',
    );
  });

  test('says what is unknown without a node, and while no mempool is followed', () => {
    const none = shown({
      state: null,
      whole: null,
      fees: null,
      outlook: null,
      shown: { ...inscriptions, cards: [] } as MempoolTabView,
    });
    for (const words of [
      'unknown: no mempool is followed here<',
      'unknown: the node does not answer',
      'unknown: there is no node to estimate them',
      'unknown: no mempool is being followed here',
    ])
      expect(none).toContain(words);
    expect(none).not.toContain('Next block');
  });

  test('has rows of runes with names of pending etchings as texts', () => {
    const page = runes(line, { ...line, kind: 'etched', isEtched: false, name: 'NEW•NAME', amount: '7' });
    expect(page).toContain('href="/rune/DOG%E2%80%A2GO"');
    expect(page).toContain('12,345.5 ');
    expect(page).toContain('5 sat/vB');
    expect(page).toContain('etched, with a premine of');
    expect(page).not.toContain('href="/rune/NEW');
    expect(page).toContain(`href="/tx/${txid}"`);
    const odd = runes({ ...line, kind: 'etched', name: null, isEtched: false, problem: 'the name is taken' });
    expect(odd).toContain('a rune that is not etched yet');
    expect(odd).toContain('<span class="chip part">the name is taken</span>');
    expect(runes({ ...line, fee: null })).toContain('unknown');
  });

  test('has pending sales with the time of their arrival', () => {
    const sale = {
      inscriptionId: id,
      name: 'Moth',
      collection: null,
      class: 'offer' as const,
      price: 70_000,
      time: 1_713_571_767,
      txid,
      maker: 'bc1qmaker',
      taker: 'bc1qtaker',
      wash: false,
    };
    const page = shown({
      shown: { tab: 'sales', sales: { known: [sale] }, next: '/mempool?tab=sales&before=1.0.0' },
    });
    expect(page).toContain('data-label="Seen"');
    expect(page).not.toContain('data-label="Sold"');
    expect(page).toContain('href="/mempool?tab=sales&amp;before=1.0.0" rel="next"');
  });

  test('says that a list is empty, and leads back to the newest rows', () => {
    const empty = (tab: MempoolTabView, isLater = false): string => shown({ shown: tab, isLater });
    expect(empty({ ...inscriptions, cards: [] })).toContain('No inscription waits for a block.');
    const ofKind = kinds.map((kind) => ({ ...kind, isCurrent: !kind.isCurrent }));
    expect(empty({ ...inscriptions, cards: [], kinds: ofKind })).toContain('No inscription of that kind');
    const more = empty({ ...inscriptions, cards: [], kinds: ofKind, next: '/mempool?kind=images&before=5' });
    expect(more).toContain('Later ones may match');
    expect(empty({ tab: 'sales', sales: { known: [] }, next: null })).toContain('No sale waits');
    expect(empty({ tab: 'sales', sales: { unknown: 'left out' }, next: null })).toContain(
      'unknown: left out',
    );
    expect(empty({ tab: 'runes', runes: { known: [] }, next: null }, true)).toContain(
      'There is nothing on this page.',
    );
    expect(empty({ tab: 'runes', runes: { known: [] }, next: null }, true)).toContain(
      'href="/mempool?tab=runes" rel="first"',
    );
    expect(empty({ ...inscriptions, kinds: ofKind }, true)).toContain(
      'href="/mempool?kind=images" rel="first"',
    );
  });
});

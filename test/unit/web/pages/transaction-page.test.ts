import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { type RuneLine, type TransactionView, transactionPage } from '#web/pages/transaction.page.ts';
import type { HoldingsView, OutputLine } from '#web/parts/chain-outputs.ts';

const txid = 'ab'.repeat(32);
const other = 'cd'.repeat(32);
const id = `${txid}i0`;
const holds: HoldingsView = {
  inscriptions: [],
  inscriptionCount: 0,
  runes: [],
  runeCount: 0,
  satributes: [],
  unknown: null,
};
const output: OutputLine = {
  outpoint: `${txid}:0`,
  value: 546,
  address: 'bc1qowner',
  script: 'P2WPKH',
  spent: { kind: 'unspent' },
  holds,
};
const none = { lines: [], isAll: true, unknown: null };
const view: TransactionView = {
  site: { network: 'mainnet', tipHeight: asHeight(900_000), banner: null },
  txid,
  standing: { kind: 'block', height: asHeight(840_000), time: 1_713_571_767, isIndexed: true, index: 3 },
  why: null,
  sizes: { bytes: 222, weight: 561 },
  vsize: 141,
  fee: 2_820,
  isCoinbase: false,
  inputs: {
    lines: [{ outpoint: `${other}:1`, value: 1_000, address: null, script: 'P2PK', holds }],
    total: 1,
  },
  outputs: { lines: [output], total: 1 },
  page: 1,
  totalPages: 1,
  revealed: [],
  pendingReveals: [],
  isAllRevealed: true,
  moved: none,
  sold: none,
  runes: none,
};
const shown = (changes: Partial<TransactionView> = {}): string =>
  transactionPage({ ...view, ...changes }).text;
const standing = (of: TransactionView['standing']): string => shown({ standing: of });
const spent = (of: OutputLine['spent']): string =>
  shown({ outputs: { lines: [{ ...output, spent: of }], total: 1 } });
const holding = (changes: Partial<HoldingsView>): string =>
  shown({ outputs: { lines: [{ ...output, holds: { ...holds, ...changes } }], total: 1 } });

describe('the page of a transaction', () => {
  test('has its block, fee, size, inputs and outputs', () => {
    for (const part of [
      '<a href="/block/840000">840,000</a>, 2024-04-20 00:09 UTC, transaction 3 there',
      '2,820 sats</span>, <span class="nowrap">20 sat/vB',
      '222 bytes, 141 vbytes, 561 weight units',
      `href="/output/${other}:1"`,
      'P2PK',
      'href="/address/bc1qowner"',
      'sats only',
    ])
      expect(shown()).toContain(part);
    expect(shown({ isCoinbase: true, fee: null })).toContain('none: it pays the miner of its block');
    expect(shown({ inputs: { lines: [], total: 1 } })).toContain('No inputs on this page of the list.');
  });

  test('has its place, and its state', () => {
    expect(
      standing({ kind: 'block', height: asHeight(5), time: 0, isIndexed: false, index: null }),
    ).toContain('This block is not indexed here');
    const pending = standing({
      kind: 'pending',
      firstSeen: null,
      replaces: [other],
      outlook: 'soon',
      family: { ancestors: 1, descendants: 2 },
    });
    for (const words of [
      'waits in the mempool</span><',
      'soon',
      '1 unconfirmed transaction; 2 need it',
      other,
    ])
      expect(pending).toContain(words);
    const alone = { kind: 'pending', firstSeen: 0, replaces: [], outlook: null } as const;
    expect(standing({ ...alone, family: { ancestors: 0, descendants: 0 } })).toContain(
      'no other unconfirmed transaction',
    );
    expect(standing({ ...alone, family: null })).not.toContain('Expected wait');
    expect(standing({ kind: 'gone', reason: 'replaced', by: other })).toMatch(
      /another transaction replaced it: .*href="\/tx\/cdcd/u,
    );
    expect(standing({ kind: 'gone', reason: 'evicted', by: null })).toContain('nodes dropped it');
    expect(standing({ kind: 'unknown' })).toContain('it is neither in an indexed block nor in the mempool');
  });

  test('says what is unknown, and why', () => {
    const page = shown({ why: 'pruned', sizes: null, vsize: null, fee: null, inputs: null, outputs: null });
    for (const words of [
      'Its inputs and outputs are unknown here: pruned.',
      'unknown: its bytes are not here',
    ])
      expect(page).toContain(words);
    expect(page).toContain('unknown: the values of its inputs are unknown here');
    expect(page).not.toContain('<h2>Outputs');
    expect(shown({ sold: { ...none, unknown: 'left out' } })).toContain('unknown: left out');
    expect(holding({ unknown: 'not indexed' })).toContain('unknown: not indexed');
  });

  test('says for each output whether it is spent, and its contents', () => {
    expect(spent({ kind: 'spent', txid: other, height: asHeight(7) })).toMatch(
      /spent<\/span> in block <a href="\/block\/7">7<\/a> by .*cdcd/u,
    );
    expect(spent({ kind: 'pending', txid: null })).toContain('spent in the mempool');
    expect(spent({ kind: 'unspendable' })).toContain('cannot be spent');
    const full = holding({
      inscriptions: [{ id, number: 5 }],
      inscriptionCount: 12,
      runes: [{ name: '<i>', amount: '7', symbol: null }],
      runeCount: 1,
      satributes: [{ id: 'pizza', title: 'Pizza', count: 3 }],
    });
    for (const part of ['>#5</a>', 'and 11 more', '&lt;i&gt;', 'href="/satributes/pizza"', 'Pizza ×3'])
      expect(full).toContain(part);
  });

  test('lists its sales, moves and changes of runes', () => {
    const sold = { inscription: { id, number: 5 }, price: 70_000, maker: 'bc1qmaker', taker: null };
    const page = shown({
      sold: { lines: [sold], isAll: false, unknown: null },
      moved: {
        lines: [{ inscription: { id, number: 5 }, from: null, to: null }],
        isAll: true,
        unknown: null,
      },
    });
    for (const part of [
      'Sold here <span class="faint">the first 1<',
      '70,000 sats',
      'no address',
      'into the fee',
    ])
      expect(page).toContain(part);
    expect(page).toContain(`href="/sale/${txid}"`);
    const rune: RuneLine = {
      kind: 'etched',
      name: 'DOG•GO',
      isEtched: true,
      amount: '12345.5',
      symbol: null,
      outpoint: null,
    };
    const runes = (line: RuneLine): string => shown({ runes: { lines: [line], isAll: true, unknown: null } });
    expect(runes(rune)).toContain('href="/rune/DOG%E2%80%A2GO"');
    expect(runes(rune)).toContain('12,345.5');
    // if no block has etched the rune, its page would be 404
    expect(runes({ ...rune, isEtched: false })).not.toContain('href="/rune/');
    expect(runes({ ...rune, name: null })).toContain('a rune that is not etched yet');
  });
});

import { expect, test } from 'vitest';
import type {
  PendingEtchingRow,
  PendingMove,
  PendingRuneTransaction,
} from '#chain/pending/pending-runes.queries.ts';
import type { NamedRune } from '#chain/runes/address-runes.queries.ts';
import { pendingRuneLines } from '#http/pages/chain/pending-rune-lines.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { asU128, maxU128, smallU128 } from '#kernel/runes/u128.ts';

const txid = asTxid(Buffer.alloc(32, 1));
const parent = asTxid(Buffer.alloc(32, 2));
const rune: NamedRune = {
  key: 3,
  height: asHeight(5),
  txIndex: 1,
  rune: asRune(2055900680524219742n),
  spacers: 128,
  divisibility: 1,
  symbol: 0x29c9,
};
const move: PendingMove = {
  step: 'given',
  rune,
  etchedBy: null,
  amount: smallU128(25),
  vout: 1,
  fromTxid: null,
  script: null,
};
const etching: PendingEtchingRow = {
  rune: asRune(26n),
  spacers: 1,
  divisibility: 2,
  symbol: null,
  premine: smallU128(700),
  state: 'open',
  matureHeight: null,
  rivals: [],
  rivalCount: 0,
};
const row: PendingRuneTransaction = {
  position: 9,
  txid,
  first_seen: new Date(1_000_500),
  fee: asSats(100),
  vsize: 150,
  replaces: Buffer.alloc(0),
  etching: null,
  moves: [],
};
const linesOf = (changes: Partial<PendingRuneTransaction>): string[] =>
  pendingRuneLines([{ ...row, ...changes }]).map(
    ({ kind, name, amount, isEtched }) => `${kind} ${name} ${amount}${isEtched ? '' : ', not etched'}`,
  );

test('a transaction has a line for each rune that it mints, moves and burns, with sums', () => {
  expect(linesOf({ moves: [move, { ...move, vout: 2 }, { ...move, step: 'taken' }] })).toEqual([
    'moved UNCOMMON•GOODS 5',
  ]);
  // the two events of a mint make one line
  expect(linesOf({ moves: [{ ...move, step: 'minted' }, move] })).toEqual(['minted UNCOMMON•GOODS 2.5']);
  expect(linesOf({ moves: [{ ...move, step: 'burned' }] })).toEqual(['burned UNCOMMON•GOODS 2.5']);
  expect(pendingRuneLines([{ ...row, moves: [move] }])).toMatchObject([
    { symbol: '⧉', seen: 1000, fee: 100, vsize: 150, txid: '01'.repeat(32), problem: null },
  ]);
});

test('an etching has its premine once, and a reason if the next block would not accept it', () => {
  const own = { ...move, rune: null, etchedBy: txid };
  expect(linesOf({ etching, moves: [own] })).toEqual(['etched A•A 7, not etched']);
  expect(linesOf({ etching: { ...etching, rune: null } })).toEqual(['etched null 7, not etched']);
  const problemOf = (changes: Partial<PendingEtchingRow>): string | null =>
    pendingRuneLines([{ ...row, etching: { ...etching, ...changes } }])[0]!.problem;
  expect(problemOf({})).toBeNull();
  expect(problemOf({ state: 'taken', rivalCount: 2 })).toBe('the name is taken');
  expect(problemOf({ rivalCount: 2 })).toContain('at most one gets it');
});

test('a rune that another pending transaction etches has no name yet, and amounts in base units', () => {
  const own = { ...move, step: 'burned' as const, rune: null, etchedBy: txid };
  expect(linesOf({ etching, moves: [own] })).toEqual([
    'etched A•A 7, not etched',
    'burned A•A 0.25, not etched',
  ]);
  const [other] = pendingRuneLines([{ ...row, moves: [{ ...own, etchedBy: parent }] }]);
  expect(other!.problem).toContain('in base units');
  expect(linesOf({ moves: [{ ...move, rune: null, etchedBy: parent }] })).toEqual([
    'moved null 25, not etched',
  ]);
});

test('amounts whose sum exceeds the maximum, and many runes, do no harm', () => {
  const most = { ...move, amount: asU128(maxU128), rune: { ...rune, divisibility: 0 } };
  expect(linesOf({ moves: [most, most] })).toEqual([`moved UNCOMMON•GOODS ${maxU128}`]);
  const many = Array.from({ length: 20 }, (_, key) => ({ ...move, rune: { ...rune, key } }));
  expect(linesOf({ moves: many })).toHaveLength(5);
});

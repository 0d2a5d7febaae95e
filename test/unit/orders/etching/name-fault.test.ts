import { expect, test } from 'vitest';
import type { NameStanding } from '#chain/runes/name-standing.queries.ts';
import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { earliestReveal, nameFault } from '#orders/etching/name-fault.ts';

const txid = asTxid(new Uint8Array(32).fill(7));
const free: NameStanding = { rune: null, unlock: 0, claims: [] };
const claim = (state: string, matureHeight: number | null = null): NameStanding => ({
  ...free,
  claims: [{ txid, state, spacers: 0, matureHeight, firstSeen: new Date(0) }],
});
const taken = { height: 99 } as RuneDetail;

test('the first block of a reveal is five blocks after the next one', () => {
  expect([earliestReveal(null), earliestReveal(100)]).toEqual([5, 106]);
});

test.each<[string, NameStanding, string | null]>([
  ['a free name', free, null],
  ['one without a known mempool', { ...free, claims: null }, null],
  ['one that unlocks with the reveal', { ...free, unlock: 106 }, null],
  ['one that unlocks a block later', { ...free, unlock: 107 }, 'locked until block 107'],
  ['a reserved one', { ...free, unlock: null }, 'reserved'],
  ['one in a block', { ...free, rune: taken }, 'already etched, in block 99'],
  ['one that the next block may have', claim('open'), 'pending transaction 0707'],
  ['one whose inputs are unknown', claim('unknown'), 'pending transaction 0707'],
  ['one whose rival matures with the reveal', claim('immature', 106), 'pending transaction 0707'],
  ['one whose rival matures later', claim('immature', 107), null],
  ['one whose rival commits to nothing', claim('uncommitted'), null],
  ['one whose rival comes too early', claim('locked'), null],
])('%s', (_words, standing, message) => {
  const fault = nameFault('SATSCRIBE', standing, 106);
  if (message === null) expect(fault).toBeNull();
  else expect(fault).toContain(message);
});

test('the reveal of the order is not its own rival', () => {
  expect(nameFault('SATSCRIBE', claim('open'), 106, txid)).toBeNull();
});

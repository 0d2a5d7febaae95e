import { expect, test } from 'vitest';
import { planOffset } from '#watches/following/plan-offset.ts';

const index = { identity: 'one', lastSequence: 50, height: 40, isCatchingUp: false };
const known = { identity: 'one', sequence: 30, height: 25, position: 7 };
const watched = { position: 9, since: 20 };
const tip = { identity: 'one', sequence: 50, height: 40 };

test('watches begin after the block that was the last for the oldest watch, and continue from their offset', () => {
  expect(planOffset(null, index, watched)).toEqual({ kind: 'begin', sequence: 20, position: 9 });
  // a watch that was stored beside another index
  expect(planOffset(null, index, { ...watched, since: 70 })).toMatchObject({ kind: 'begin', sequence: 50 });
  expect(planOffset(null, index, { position: null, since: null })).toEqual({
    kind: 'jump',
    offset: { ...tip, position: 0 },
  });
  expect(planOffset(known, index, watched)).toEqual({ kind: 'follow', offset: known });
  expect(planOffset(known, index, { position: null, since: 20 })).toEqual({
    kind: 'follow',
    offset: known,
  });
});

test('nothing is matched while no watch is active', () => {
  const plan = planOffset(known, index, { position: 9, since: null });
  expect(plan).toEqual({ kind: 'jump', offset: { ...tip, position: 9 } });
  const unfollowed = planOffset(known, index, { position: null, since: null });
  expect(unfollowed).toEqual({ kind: 'jump', offset: { ...tip, position: 7 } });
});

test('the old blocks of a first sync are not matched, and the first recent blocks are', () => {
  const syncing = { ...index, isCatchingUp: true };
  const begun = planOffset(null, syncing, watched);
  const before = { ...tip, height: -1, position: 9 };
  expect(begun).toEqual({ kind: 'jump', offset: before });
  const later = { ...syncing, lastSequence: 60, height: 50 };
  expect(planOffset(before, later, watched)).toEqual({ kind: 'jump', offset: { ...before, sequence: 60 } });
  expect(planOffset(before, index, watched)).toEqual({ kind: 'follow', offset: before });
});

test('an index that is made again is matched above the last matched block', () => {
  const other = { ...index, identity: 'two' };
  expect(planOffset(known, other, watched)).toEqual({ kind: 'restart', height: 25 });
  const restarted = { ...known, identity: 'two', sequence: 0 };
  const syncing = { ...other, isCatchingUp: true };
  expect(planOffset(restarted, { ...syncing, height: 25, lastSequence: 26 }, watched)).toEqual({
    kind: 'jump',
    offset: { ...restarted, sequence: 26 },
  });
  expect(planOffset(restarted, syncing, watched)).toEqual({ kind: 'follow', offset: restarted });
  expect(planOffset({ ...known, height: -1 }, other, watched)).toMatchObject({
    kind: 'jump',
    offset: { height: 40 },
  });
});

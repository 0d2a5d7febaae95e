import { expect, test } from 'vitest';
import { asTxid } from '#kernel/primitives/hash.ts';
import { type StoredPackage, unminedReason } from '#orders/mining/unmined.ts';

const until = new Date(1000);
const waiting: StoredPackage = {
  reveal: asTxid(Buffer.alloc(32, 1)),
  hours: 24,
  minedUntil: until,
  acceptedAt: null,
  refusal: null,
  givenUpAt: null,
  isMined: false,
};
const late = new Date(1001);

test('a reveal is given up immediately if the miner refuses it', () => {
  expect(unminedReason({ ...waiting, refusal: 'too large' }, until)).toMatch(/refused .*: too large$/u);
});

test('a reveal is given up after its time, and the reason says what the miner did', () => {
  expect(unminedReason(waiting, until)).toBeNull();
  expect(unminedReason(waiting, late)).toMatch(/did not answer within 24 hours/u);
  expect(unminedReason({ ...waiting, acceptedAt: new Date(1) }, late)).toMatch(/did not mine it within 24/u);
});

test('a reveal in a block is never given up', () => {
  for (const refusal of [null, 'too large'])
    expect(unminedReason({ ...waiting, refusal, givenUpAt: late, isMined: true }, late)).toBeNull();
});

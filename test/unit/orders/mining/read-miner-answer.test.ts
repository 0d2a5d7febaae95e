import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMinerAnswer } from '#orders/mining/read-miner-answer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const id = 'ab'.repeat(32);
const read = (text: string, { status = 200, of = null as string | null } = {}) =>
  readMinerAnswer({ status, bytes: Buffer.from(text) }, of);

describe('an answer of a miner', () => {
  test('accepts an offer, and a package only if it repeats the id', () => {
    expect(read('{"accepted":true}')).toEqual({ kind: 'accepted' });
    expect(read(JSON.stringify({ accepted: true, id }), { of: id })).toEqual({ kind: 'accepted' });
    for (const text of ['{"accepted":true}', `{"accepted":true,"id":"${id.toUpperCase()}"}`])
      expect(read(text, { of: id })).toMatchObject({ kind: 'silent' });
  });

  test('refuses with a reason on one line, which is bounded', () => {
    expect(read('{"accepted":false,"reason":"too\\nlarge\\u202e \\u0007"}')).toEqual({
      kind: 'refused',
      reason: 'too large',
    });
    for (const reason of [undefined, null, 7, '', '\u0000'])
      expect(read(JSON.stringify({ accepted: false, reason }))).toEqual({
        kind: 'refused',
        reason: 'no reason given',
      });
    const long = read(JSON.stringify({ accepted: false, reason: 'a'.repeat(10_000) }));
    expect(long).toEqual({ kind: 'refused', reason: 'a'.repeat(200) });
  });

  test.each([
    ['', {}],
    ['{', {}],
    ['[{"accepted":true}]', {}],
    ['null', {}],
    ['{}', {}],
    ['{"accepted":"true"}', {}],
    ['{"accepted":1}', {}],
    ['{"accepted":true}', { status: 201 }],
    ['{"accepted":true}', { status: 302 }],
    ['{"accepted":false}', { status: 500 }],
  ])('is silence if it is not of the protocol: %s', (text, more) => {
    expect(read(text, more).kind).toBe('silent');
  });

  test('is consent only if it says so, whatever it contains', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 100, max: 599 }), (bytes, status) => {
        expect(readMinerAnswer({ status, bytes }, id).kind).not.toBe('accepted');
      }),
      { numRuns: propertyRuns(200) },
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { kind } = readMinerAnswer({ status: 200, bytes: Buffer.from(JSON.stringify(value)) }, null);
        const saysSo =
          typeof value === 'object' && value !== null && !Array.isArray(value) && value['accepted'] === true;
        expect(kind === 'accepted').toBe(saysSo);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pushedNumber, ScriptScan, scanBits, scanScript } from '#indexer/parse/witness-script.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { type ReferenceEnvelope, referenceEnvelopes } from './reference-envelopes.ts';
import { envelopeScript, push } from './synthetic-block.ts';

const scan = new ScriptScan();

/** Envelopes that the scan finds, written like those of the reference. */
function scanned(script: Buffer): ReferenceEnvelope[] {
  const count = scanScript(scan, script, 0, script.length);
  return Array.from({ length: count }, (_, index) => {
    const items: string[] = [];
    for (let item = scan.envelopeFirstItem[index]!; item < scan.envelopeFirstItem[index + 1]!; item++) {
      const start = scan.itemStart[item]!;
      const length = scan.itemLength[item]!;
      const bytes =
        length < 0 ? Buffer.from([pushedNumber(script[start]!)]) : script.subarray(start, start + length);
      items.push(bytes.toString('hex'));
    }
    const bits = scan.envelopeBits[index]!;
    return { items, pushnum: (bits & scanBits.pushnum) !== 0, stutter: (bits & scanBits.stutter) !== 0 };
  });
}

const script = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));

describe('scanScript', () => {
  test.each([
    [
      'the opening by OP_PUSHDATA1',
      script('4c0063036f726468'),
      [{ items: [], pushnum: false, stutter: false }],
    ],
    [
      'the opening by OP_PUSHDATA2',
      script('4d000063036f726468'),
      [{ items: [], pushnum: false, stutter: false }],
    ],
    [
      'the opening by OP_PUSHDATA4',
      script('4e0000000063036f726468'),
      [{ items: [], pushnum: false, stutter: false }],
    ],
    ['"ord" by OP_PUSHDATA1', script('00634c036f726468'), [{ items: [], pushnum: false, stutter: false }]],
    ['"ord" by OP_PUSHDATA2', script('00634d03006f726468'), [{ items: [], pushnum: false, stutter: false }]],
    [
      '"ord" by OP_PUSHDATA4',
      script('00634e030000006f726468'),
      [{ items: [], pushnum: false, stutter: false }],
    ],
    [
      'an empty push before the opening',
      script('000063036f726468'),
      [{ items: [], pushnum: false, stutter: true }],
    ],
    [
      'a stutter by OP_PUSHDATA1',
      script('004c0063036f726468'),
      [{ items: [], pushnum: false, stutter: true }],
    ],
    [
      'an opening within an opening',
      script('00630063036f726468'),
      [{ items: [], pushnum: false, stutter: true }],
    ],
    [
      'OP_DROP between empty pushes',
      script('00750063036f726468'),
      [{ items: [], pushnum: false, stutter: false }],
    ],
    ['another protocol', script('0063036f726568'), []],
    ['no end', script('0063036f7264'), []],
    ['an opcode within', script('0063036f72646368'), []],
    [
      'numbers',
      script('0063036f72644f516068'),
      [{ items: ['81', '01', '10'], pushnum: true, stutter: false }],
    ],
  ])('%s', (_, bytes, expected) => {
    expect(scanned(bytes)).toEqual(expected);
    expect(referenceEnvelopes(bytes)).toEqual(expected);
  });

  test('drops every envelope of a script in which a push runs past the end', () => {
    const good = envelopeScript('a', 'b');
    expect(scanned(good)).toHaveLength(1);
    for (const tail of ['02ff', '4c', '4c01', '4d01', '4d0100', '4e010000', '4e01000000', '4effffffff']) {
      expect(scanned(script(good, tail)), tail).toEqual([]);
    }
  });

  test('finds more envelopes and items than it has room for at first', () => {
    const many = Buffer.concat(Array.from({ length: 3000 }, () => envelopeScript('a', 'b', '')));
    expect(scanned(many)).toHaveLength(3000);
  });

  test('equals the slow reading, for random scripts', () => {
    // most parts belong to envelopes, so that some envelopes are complete
    const part = fc.oneof(
      { weight: 6, arbitrary: fc.constant(Buffer.from('0063036f7264', 'hex')) },
      { weight: 6, arbitrary: fc.constantFrom(...[0x00, 0x63, 0x68].map((byte) => Buffer.from([byte]))) },
      { weight: 4, arbitrary: fc.uint8Array({ maxLength: 3 }).map((bytes) => push(bytes)) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          ...['4c00', '4d0000', '4e00000000', '4c036f7264', '036f7264'].map((hex) => Buffer.from(hex, 'hex')),
        ),
      },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)) },
      { weight: 1, arbitrary: fc.integer({ min: 0x4f, max: 0x61 }).map((byte) => Buffer.from([byte])) },
    );
    let envelopes = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const bytes = Buffer.concat(parts);
        const expected = referenceEnvelopes(bytes);
        envelopes += expected.length;
        expect(scanned(bytes)).toEqual(expected);
      }),
      { numRuns: propertyRuns(3000) },
    );
    expect(envelopes).toBeGreaterThan(40);
  });
});

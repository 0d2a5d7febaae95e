import { encode } from 'cbor-x';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { burnMetadataJson } from '#http/ord/inscriptions/burn-metadata.ts';
import { burnScriptWith } from '#psbts/burning/burn-script.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const script = (...bytes: readonly number[]): Uint8Array => Uint8Array.of(...bytes);
const pushed = (data: Uint8Array): Uint8Array => script(0x6a, data.length, ...data);

test('metadata of a burn is the first push after the OP_RETURN, in CBOR', () => {
  expect(burnMetadataJson(burnScriptWith('gone'))).toBe('"gone"');
  expect(burnMetadataJson(burnScriptWith('x'.repeat(80)))).toBe(`"${'x'.repeat(80)}"`);
  expect(burnMetadataJson(pushed(encode({ a: 1 })))).toBe('{"a":1}');
  // read as CBOR, the text begins with two bytes; the rest is ignored, as in ord
  expect(burnMetadataJson(pushed(Buffer.from('BRC20PROG')))).toBe('"5243"');
});

test.each([
  ['an output that burns nothing', script(0x51, 0x20)],
  ['a burn without data', script(0x6a)],
  ['a runestone', script(0x6a, 0x5d, 0x00)],
  ['bytes that are not CBOR', pushed(script(0x65, 0x61))],
  ['a push beyond the end', script(0x6a, 0x4b, 0x61)],
])('is missing in %s', (_, given) => {
  expect(burnMetadataJson(given)).toBeNull();
});

test('any script gives an answer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 128 }), (bytes) => {
      const json = burnMetadataJson(script(0x6a, ...bytes));
      if (json !== null) expect(() => JSON.parse(json) as unknown).not.toThrow();
      expect(burnMetadataJson(null)).toBeNull();
    }),
    { numRuns: propertyRuns(300) },
  );
});

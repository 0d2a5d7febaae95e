import { Decoder } from 'cbor-x';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pushAt } from '#kernel/bitcoin/script-push.ts';
import { isRunestoneScript } from '#kernel/runes/runestone/runestone-script.ts';
import { burnScripts, burnScriptWith, metadataBytesMax } from '#psbts/burning/burn-script.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('the scripts of BRC-20 are those that its indexers compare', () => {
  expect(hex(burnScripts.BRC20)).toBe('6a');
  expect(hex(burnScripts.BRC20PROG)).toBe('6a09425243323050524f47');
});

test('metadata of 78 bytes is a script of 83, and of 80 bytes one of 85', () => {
  expect(burnScriptWith('')).toEqual(burnScripts.BRC20);
  expect(hex(burnScriptWith('gone'))).toBe('6a0564676f6e65');
  expect(burnScriptWith('x'.repeat(78))).toHaveLength(83);
  expect(burnScriptWith('x'.repeat(80))).toHaveLength(85);
});

test('any metadata is one push of a text that readers of CBOR give back', () => {
  const texts = fc
    .string({ minLength: 1, maxLength: metadataBytesMax, unit: 'grapheme' })
    .filter((text) => Buffer.byteLength(text) <= metadataBytesMax);
  fc.assert(
    fc.property(texts, (text) => {
      const script = burnScriptWith(text);
      const push = pushAt(script, 1, script.length);
      expect(push?.end).toBe(script.length);
      expect(new Decoder().decode(script.subarray(push!.start, push!.end))).toBe(text);
      expect(isRunestoneScript(script)).toBe(false);
    }),
    { numRuns: propertyRuns(200) },
  );
});

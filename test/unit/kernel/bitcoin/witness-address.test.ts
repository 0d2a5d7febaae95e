import { bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { witnessAddress } from '#kernel/bitcoin/witness-address.ts';

test('addresses of witness programs are those of a library', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('bc', 'tb', 'bcrt'),
      fc.nat({ max: 16 }),
      fc.uint8Array({ minLength: 2, maxLength: 40 }),
      (prefix, version, program) => {
        const form = version === 0 ? bech32 : bech32m;
        const expected = form.encode(prefix, [version, ...form.toWords(program)]);
        expect(witnessAddress(prefix, version, program)).toBe(expected);
      },
    ),
    { numRuns: 2_000 },
  );
});

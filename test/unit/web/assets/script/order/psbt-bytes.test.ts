import { Transaction } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  builtProblem,
  hexOf,
  outputValues,
  psbtBytes,
  signSame,
  unsignedOf,
} from '#web/assets/script/order/psbt-bytes.js';

const script = Uint8Array.from([0x00, 0x14, ...new Uint8Array(20).fill(7)]);

function psbtOf(...values: readonly number[]): Uint8Array {
  const made = new Transaction();
  made.addInput({ txid: 'ab'.repeat(32), index: 1, witnessUtxo: { script, amount: 1_000_000n } });
  for (const value of values) made.addOutput({ script, amount: BigInt(value) });
  return made.toPSBT();
}

const psbt = psbtOf(3456, 10_000);

describe('a PSBT', () => {
  test('is read as hex, base64 in both alphabets, bytes, and a file of text', () => {
    const base64 = Buffer.from(psbt).toString('base64');
    const given = [
      hexOf(psbt),
      hexOf(psbt).toUpperCase(),
      `${base64.slice(0, 20)}\n ${base64.slice(20)}\n`,
      base64.replaceAll('+', '-').replaceAll('/', '_'),
      psbt,
      new TextEncoder().encode(`${base64}\n`),
    ];
    for (const each of given) expect(hexOf(psbtBytes(each)!)).toBe(hexOf(psbt));
  });

  test('of anything else is not there, and nothing throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.uint8Array({ maxLength: 300 })), (given) => {
        const bytes = psbtBytes(given);
        if (bytes !== null) unsignedOf(bytes);
        if (typeof given !== 'string') {
          unsignedOf(given);
          outputValues(given);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
    for (let length = 0; length < psbt.length; length++) {
      const cut = psbt.slice(0, length);
      const unsigned = unsignedOf(cut);
      if (unsigned !== null) outputValues(unsigned);
    }
  });

  test('has the outputs that its transaction has', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1000, max: 900 * 10 ** 3 }), { minLength: 1, maxLength: 20 }),
        (values) => {
          expect(outputValues(unsignedOf(psbtOf(...values))!)).toEqual(values);
        },
      ),
      { numRuns: propertyRuns(50) },
    );
  });

  test('signs the same transaction as itself, and another one than any other', () => {
    expect(signSame(psbt, psbt)).toBe(true);
    expect(signSame(psbt, psbtOf(3457, 10_000))).toBe(false);
    expect(signSame(psbt, psbt.slice(0, 12))).toBe(false);
  });
});

test('a payment is handed to a wallet only if it pays what the service says, and what was asked for', () => {
  const outputs = [
    { address: 'charge', value: 3456 },
    { address: 'change', value: 10_000 },
  ];
  const built = { psbtHex: hexOf(psbt), outputs };
  const charge = { address: 'charge', sats: 3456 };
  expect(builtProblem(built, charge)).toBeNull();
  expect(builtProblem({ ...built, psbtHex: 'abcd' }, charge)).toMatch(/answered no PSBT/u);
  expect(builtProblem({ ...built, psbtHex: hexOf(psbtOf(3456, 1000)) }, charge)).toMatch(
    /something else than the service says/u,
  );
  expect(builtProblem(built, { ...charge, sats: 3457 })).toMatch(/less than it asks for/u);
});

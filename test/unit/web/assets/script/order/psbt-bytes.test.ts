import { p2sh, p2tr, p2wpkh, Transaction } from '@scure/btc-signer';
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  builtProblem,
  hexOf,
  outputValues,
  psbtBytes,
  signSame,
  signsTransaction,
  unsignedOf,
  withoutSignatures,
} from '#web/assets/script/order/psbt-bytes.js';

function paymentOf(key: Uint8Array, type: 'p2wpkh' | 'p2sh-p2wpkh' | 'p2tr') {
  if (type === 'p2tr') return p2tr(pubSchnorr(key));
  return type === 'p2wpkh' ? p2wpkh(pubECDSA(key)) : p2sh(p2wpkh(pubECDSA(key)));
}

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

  test('is null for any other bytes, without an error', () => {
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

  test('has the outputs of its transaction', () => {
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

  test('signs the same transaction as itself, and a different one from any other', () => {
    expect(signSame(psbt, psbt)).toBe(true);
    expect(signSame(psbt, psbtOf(3457, 10_000))).toBe(false);
    expect(signSame(psbt, psbt.slice(0, 12))).toBe(false);
  });
});

describe('a transaction that a wallet finalized itself', () => {
  const signed = (
    values: readonly number[],
    type: 'p2wpkh' | 'p2sh-p2wpkh' | 'p2tr',
  ): { psbt: Uint8Array; hex: string } => {
    const key = new Uint8Array(32).fill(9);
    const payment = paymentOf(key, type);
    const made = new Transaction();
    const witnessUtxo = { script: payment.script, amount: 1_000_000n };
    made.addInput({ txid: 'ab'.repeat(32), index: 1, ...payment, witnessUtxo });
    for (const value of values) made.addOutput({ script, amount: BigInt(value) });
    const psbtOfIt = made.toPSBT();
    made.sign(key);
    made.finalize();
    return { psbt: psbtOfIt, hex: made.hex };
  };

  test.each(['p2wpkh', 'p2sh-p2wpkh', 'p2tr'] as const)('is the one of its PSBT (%s)', (type) => {
    const one = signed([3456, 10_000], type);
    expect(signsTransaction(one.psbt, one.hex)).toBe(true);
    expect(signsTransaction(one.psbt, signed([3457, 10_000], type).hex)).toBe(false);
    expect(signsTransaction(one.psbt, one.hex.slice(0, 60))).toBe(false);
    expect(signsTransaction(psbtOf(3456), one.hex)).toBe(false);
  });

  test('is null for any other bytes, without an error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (given) => {
        withoutSignatures(given);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

test('a payment is handed to a wallet only if it pays what the service says, and what the order needs', () => {
  const outputs = [
    { address: 'charge', value: 3456 },
    { address: 'change', value: 10_000 },
  ];
  const built = { psbtHex: hexOf(psbt), outputs };
  const charge = { address: 'charge', sats: 3456 };
  expect(builtProblem(built, charge)).toBeNull();
  expect(builtProblem({ ...built, psbtHex: 'abcd' }, charge)).toMatch(/did not answer with a PSBT/u);
  expect(builtProblem({ ...built, psbtHex: hexOf(psbtOf(3456, 1000)) }, charge)).toMatch(
    /does not pay what the service says/u,
  );
  expect(builtProblem(built, { ...charge, sats: 3457 })).toMatch(/less than the order needs/u);
});

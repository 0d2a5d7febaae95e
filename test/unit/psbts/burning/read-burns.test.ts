import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import { readChild } from '#psbts/accelerating/read-child.ts';
import { readBurn, readInscriptionBurn } from '#psbts/burning/read-burns.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';

const signers = signerBody(customerAddress(1, 'p2wpkh'), customerAddress(2));
const utxo = `${'ab'.repeat(32)}:3`;
const { regtest } = networks;

test('amounts and rates are numbers or texts', () => {
  const body = {
    utxo,
    burnAmount: '10000',
    changeAmount: 330,
    burnType: 'BRC20',
    feeRate: '2.5',
    ...signers,
  };
  expect(readBurn(body, regtest)).toMatchObject({
    kind: 'burn',
    burnAmount: 10_000n,
    changeAmount: 330n,
    feeRate: 2_500n,
    utxo: { vout: 3 },
  });
  expect(readBurn({ ...body, feeRate: 0 }, regtest)).toMatchObject({ feeRate: null });
});

test('a rate below 0.1 is in bitcoins, only for burns of token payments', () => {
  const rate = (feeRate: unknown) => {
    const read = readInscriptionBurn({ utxo, feeRate, ...signers }, regtest);
    return read.kind === 'faulty' ? read.faults.map(({ message }) => message) : read.feeRate;
  };
  expect(rate(0.0001)).toBe(10_000n);
  expect(rate('0.00001')).toBe(1_000n);
  expect(rate(0.1)).toBe(100n);
  expect(rate(1e-8)).toEqual([expect.stringMatching(/^feeRate must be from 0\.1/u)]);
  const child = {
    utxo,
    feeRate: 0.0001,
    paymentAddress: signers.paymentAddress,
    paymentPublicKey: signers.paymentPublicKey,
  };
  expect(readChild(child, regtest).kind).toBe('faulty');
});

test('metadata is counted in bytes', () => {
  const read = (metadata: unknown) => readInscriptionBurn({ utxo, metadata, ...signers }, regtest).kind;
  expect([read('€'.repeat(26)), read('€'.repeat(27)), read(5), read('\0'), read('')]).toEqual([
    'inscription-burn',
    'faulty',
    'faulty',
    'faulty',
    'inscription-burn',
  ]);
});

test('any body is read or refused with sentences', () => {
  const value = fc.oneof(fc.jsonValue(), fc.constant(utxo), fc.constant('BRC20'), fc.integer());
  const fields = fc.record(
    Object.fromEntries(
      [
        'utxo',
        'burnAmount',
        'changeAmount',
        'burnType',
        'inscriptionId',
        'metadata',
        'orderId',
        'feeRate',
      ].map((name) => [name, value]),
    ),
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fields), fc.boolean(), (given, isSigned) => {
      const isFields = typeof given === 'object' && given !== null && !Array.isArray(given);
      const body = isSigned && isFields ? { ...given, ...signers } : given;
      for (const read of [readBurn, readInscriptionBurn, readChild]) {
        const answer = read(body, regtest);
        if (answer.kind === 'faulty') expect(answer.faults.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: propertyRuns(200) },
  );
});

import { Transaction } from '@scure/btc-signer';
import { Psbt } from 'bitcoinjs-lib';
import { describe, expect, test } from 'vitest';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { asBlockHashHex, asTxid } from '#kernel/primitives/hash.ts';
import { writePsbt } from '#psbts/bytes/write-psbt.ts';
import { inputsOf, type PsbtInput, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import {
  customerAddress,
  type PaymentType,
  paymentTypes,
  signerOf,
} from '#test/support/psbts/customer-address.ts';
import { signingLibraries } from '#test/support/psbts/sign-psbt.ts';

const ordinals = customerAddress(41);
const block = asBlockHashHex('00'.repeat(32));

/** Makes a transaction that pays a customer, and a plan that spends its output. */
function spending(type: PaymentType) {
  const payment = customerAddress(40, type);
  const coin = { txid: 'ab'.repeat(32), vout: 1, value: 500_000, owner: 3 };
  const previous = transaction(
    [coin],
    [
      { value: 10_000, outputScript: ordinals.script },
      { value: 100_000, outputScript: payment.script },
      { value: 200_000, outputScript: payment.script },
    ],
  );
  const txid = asTxid(Buffer.from(previous.txid, 'hex').reverse());
  const input = (vout: number, value: bigint, signer: PsbtInput['signer']): PsbtInput => ({
    txid,
    vout,
    value,
    signer,
    blockHash: block,
  });
  const payer = signerOf(payment);
  const holder = signerOf(ordinals, 'ordinals');
  const plan = psbtPlan({
    inputs: [input(0, 10_000n, holder), input(1, 100_000n, payer), input(2, 200_000n, payer)],
    outputs: [
      { script: ordinals.script, value: 10_000n, purpose: 'ordinals' },
      { script: customerAddress(42).script, value: 50_000n, purpose: 'charge' },
      { script: payer.script, value: 248_000n, purpose: 'change' },
    ],
  });
  return { payment, previous, plan };
}

/** The bytes of a transaction without its witnesses. */
function stripped(hex: string): Uint8Array {
  const bytes = Buffer.from(hex, 'hex');
  return Transaction.fromRaw(bytes, { allowUnknownOutputs: true, disableScriptCheck: true }).toBytes(
    true,
    false,
  );
}

describe.each(paymentTypes)('a PSBT that pays from %s', (type) => {
  const { payment, previous, plan } = spending(type);
  const isPrevious = type !== 'p2tr';
  const whole = new Map(isPrevious ? [1, 2].map((index) => [index, stripped(previous.hex)]) : []);
  const written = writePsbt(plan, whole);

  test('has the fields that signers need, and no others', () => {
    const read = Psbt.fromHex(written.hex);
    expect(written.base64).toBe(read.toBase64());
    expect(read.version).toBe(2);
    expect(read.txInputs.map(({ sequence }) => sequence)).toEqual([0xffff_fffd, 0xffff_fffd, 0xffff_fffd]);
    const [holder, ...payers] = read.data.inputs.map((input) => Object.keys(input).toSorted());
    expect(holder).toEqual(['tapInternalKey', 'witnessUtxo']);
    const expected: Readonly<Record<PaymentType, readonly string[]>> = {
      p2tr: ['tapInternalKey', 'witnessUtxo'],
      p2wpkh: ['nonWitnessUtxo', 'witnessUtxo'],
      'p2sh-p2wpkh': ['nonWitnessUtxo', 'redeemScript', 'witnessUtxo'],
      p2pkh: ['nonWitnessUtxo'],
    };
    for (const payer of payers) expect(payer).toEqual(expected[type]);
    expect([inputsOf(plan, 'ordinals'), inputsOf(plan, 'payment')]).toEqual([[0], [1, 2]]);
  });

  test.each(signingLibraries)('is signed with $name, at the planned weight', ({ sign, finalize }) => {
    const signed = sign(written.base64, [
      { by: ordinals, indices: [0] },
      { by: payment, indices: [1, 2] },
    ]);
    const made = Transaction.fromRaw(Buffer.from(finalize(signed), 'hex'), { allowUnknownOutputs: true });
    // ECDSA signatures have at most 72 bytes
    const perInput = type === 'p2pkh' ? 4 * 2 : 2;
    expect(made.weight).toBeLessThanOrEqual(plan.weight);
    expect(made.weight).toBeGreaterThanOrEqual(plan.weight - (type === 'p2tr' ? 0 : 2 * perInput));
    const [least, most] = [feeOf(made.weight, 1000n), feeOf(plan.weight, 1000n)];
    expect(Number(most) / Number(least)).toBeLessThanOrEqual(1.012);
  });

  test('is signed by each address alone, one after the other, with different libraries', () => {
    const [first, second] = signingLibraries;
    const half = first!.sign(written.base64, [{ by: payment, indices: [1, 2] }]);
    const both = second!.sign(half, [{ by: ordinals, indices: [0] }]);
    expect(second!.finalize(both)).toMatch(/^02000000/u);
  });
});

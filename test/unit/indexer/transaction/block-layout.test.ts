import { RawTx } from '@scure/btc-signer';
import { Transaction } from 'bitcoinjs-lib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { writeTransaction } from '#test/builders/transaction.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The fields of a transaction, decoded by @scure/btc-signer, that tests compare. */
interface ScureTransaction {
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly { readonly sequence: number; readonly index: number }[];
  readonly outputs: readonly { readonly amount: bigint; readonly script: Uint8Array }[];
  readonly witnesses?: readonly (readonly Uint8Array[])[];
}

// some are too long for the shortest form of a compact size
const bytesOf = (most: number): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.uint8Array({ maxLength: most }) },
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 253, maxLength: 70_000, size: 'max' }) },
  );

const input = fc.record({
  txid: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  vout: fc.nat(),
  scriptSig: bytesOf(100),
  witness: fc.array(bytesOf(80), { maxLength: 5 }),
});
const output = fc.record({ value: fc.nat({ max: 2_100_000_000_000_000 }), script: bytesOf(40) });
const transaction = fc.record({
  inputs: fc.array(input, { minLength: 1, maxLength: 4 }),
  outputs: fc.array(output, { maxLength: 4 }),
});

function serialised(made: Parameters<typeof writeTransaction>[1]): Uint8Array {
  const out = new ByteWriter();
  writeTransaction(out, made, true);
  return Uint8Array.from(out.bytes.subarray(0, out.length));
}

const blockOf = (transactions: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.alloc(80), Buffer.of(transactions.length), ...transactions]);

describe('the structure of a transaction', () => {
  test('is read as it was written, and as two other libraries read it', () => {
    fc.assert(
      fc.property(transaction, (made) => {
        const bytes = serialised(made);
        const read = RawTransactions.one(bytes);
        expect(
          read.inputs.map(({ previousTxid, previousVout, scriptSig, witness }) => ({
            txid: hex(previousTxid),
            vout: previousVout,
            scriptSig: hex(scriptSig),
            witness: witness.map(hex),
          })),
        ).toEqual(
          made.inputs.map(({ txid, vout, scriptSig, witness }) => ({
            txid: hex(txid),
            vout,
            scriptSig: hex(scriptSig),
            witness: witness.map(hex),
          })),
        );
        const outputs = read.outputs.map(({ value, script }) => [value, hex(script)]);
        expect(outputs).toEqual(made.outputs.map(({ value, script }) => [value, hex(script)]));

        const scure = RawTx.decode(bytes) as unknown as ScureTransaction;
        expect(scure.outputs.map(({ amount, script }) => [Number(amount), hex(script)])).toEqual(outputs);
        expect(scure.inputs.map(({ sequence, index }) => [sequence, index])).toEqual(
          read.inputs.map(({ sequence, previousVout }) => [sequence, previousVout]),
        );
        const witnesses = scure.witnesses ?? made.inputs.map(() => []);
        expect(witnesses.map((items) => items.map(hex))).toEqual(
          read.inputs.map(({ witness }) => witness.map(hex)),
        );
        expect([scure.version, scure.lockTime]).toEqual([read.version, read.lockTime]);

        const other = Transaction.fromBuffer(Buffer.from(bytes));
        expect(hex(read.txid)).toBe(hex(other.getHash()));
        const block = RawTransactions.ofBlock(blockOf([bytes, bytes]));
        expect(block.weight(1)).toBe(other.weight());
        expect(block.size(1)).toBe(bytes.length);
        expect(hex(block.txid(1))).toBe(hex(other.getHash()));
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  test('is refused with a typed error wherever it is cut', () => {
    fc.assert(
      fc.property(transaction, fc.double({ min: 0, max: 1, noNaN: true }), (made, share) => {
        const bytes = serialised(made);
        const cut = bytes.subarray(0, Math.floor(share * (bytes.length - 1)));
        expect(new BlockLayout().readTransaction(cut, 0)).toBe(-1);
        expect(() => RawTransactions.one(cut)).toThrow(AppError);
        expect(readLayout(blockOf([bytes, cut]), new BlockLayout())).toMatchObject({
          code: 'block_truncated',
        });
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('of any bytes and any flipped bit gives an answer or a typed error', () => {
    const layout = new BlockLayout();
    const flipped = fc.tuple(transaction, fc.nat(), fc.nat({ max: 7 })).map(([made, at, bit]) => {
      const bytes = serialised(made);
      const place = at % bytes.length;
      bytes[place] = bytes[place]! ^ (1 << bit);
      return bytes;
    });
    fc.assert(
      fc.property(fc.oneof(flipped, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        const end = layout.readTransaction(bytes, 0);
        expect(end).toBeLessThanOrEqual(bytes.length);
        try {
          RawTransactions.one(bytes);
          expect(end).toBe(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  test('distinguishes a transaction without inputs from one with a marker', () => {
    const empty = Buffer.from(`02000000${'0000'}00000000`, 'hex');
    expect(new BlockLayout().readTransaction(empty, 0)).toBe(empty.length);
    expect(RawTransactions.one(empty)).toMatchObject({ inputs: [], outputs: [], lockTime: 0 });
    const unknownFlag = Buffer.from(`02000000${'0002'}000000000000`, 'hex');
    expect(() => RawTransactions.one(unknownFlag)).toThrow('unknown flag');
  });

  test('records a marker without a witness, which Bitcoin Core refuses', () => {
    const body = `01${'11'.repeat(36)}00ffffffff01${'00'.repeat(8)}00`;
    const bytes = Buffer.from(`020000000001${body}00${'00000000'}`, 'hex');
    const layout = new BlockLayout();
    expect(layout.readTransaction(bytes, 0)).toBe(bytes.length);
    expect(layout.emptyWitnessAt).toBe(bytes.length - 4);
    expect(() => RawTx.decode(bytes)).toThrow('empty witness');
  });

  test.each([
    ['fd0100', 'not in its shortest form'],
    ['fe01000000', 'not in its shortest form'],
    ['ff0100000000000000', 'not in its shortest form'],
    ['ffffffffffffffffff', 'the block ends'],
    ['fe00000080', 'the block ends'],
  ])('with %s inputs is refused: %s', (count, message) => {
    const bytes = Buffer.from(`02000000${count}${'00'.repeat(60)}`, 'hex');
    expect(() => RawTransactions.one(bytes)).toThrow(message);
  });
});

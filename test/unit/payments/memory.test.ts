import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashKey } from '#indexer/mempool/stream/membership.ts';
import { MempoolOutputs } from '#payments/memory/mempool-outputs.ts';
import { ScriptSet } from '#payments/memory/script-set.ts';
import { type FoundTransaction, TransactionScan } from '#payments/memory/transaction-scan.ts';
import { UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import { type Coin, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const internal = (txid: string): Buffer => Buffer.from(txid, 'hex').reverse();
const coin = (name: number): Coin => ({
  txid: name.toString(16).padStart(64, '0'),
  vout: 1,
  value: 50_000,
  owner: 1,
});

describe('ScriptSet', () => {
  test('has what was added, at any place of a longer run of bytes, and nothing else', () => {
    const script = fc.uint8Array({ minLength: 1, maxLength: 520 });
    fc.assert(
      fc.property(fc.array(script), fc.array(script), fc.nat(7), (added, others, offset) => {
        const set = new ScriptSet();
        for (const one of added) set.add(one);
        const known = new Set(added.map((one) => Buffer.from(one).toString('hex')));
        expect(set.size).toBe(known.size);
        for (const one of [...added, ...others]) {
          const bytes = Buffer.concat([Buffer.alloc(offset, 0xaa), one]);
          expect(set.has(viewOf(bytes), offset, one.length)).toBe(
            known.has(Buffer.from(one).toString('hex')),
          );
        }
      }),
    );
  });

  test('grows to 20,000 scripts and passes over those that are longer than any that can be watched', () => {
    const set = new ScriptSet();
    const script = (index: number): Buffer => {
      const bytes = Buffer.alloc(34);
      bytes.writeUInt32LE(index, 30);
      return bytes;
    };
    for (let index = 0; index < 20_000; index++) set.add(script(index));
    expect(set.size).toBe(20_000);
    const missed = Array.from({ length: 20_000 }, (_, index) => index).filter(
      (index) => !set.has(viewOf(script(index)), 0, 34),
    );
    expect(missed).toEqual([]);
    expect(set.has(viewOf(script(20_001)), 0, 34)).toBe(false);
    expect(set.has(viewOf(Buffer.alloc(10_000)), 0, 10_000)).toBe(false);
    expect(set.emptied().size).toBe(0);
  });
});

describe('MempoolOutputs', () => {
  test('finds the transactions that are there, whatever came and went', () => {
    const step = fc.tuple(
      fc.constantFrom('add', 'delete'),
      fc.nat(3000),
      fc.array(fc.nat(50), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 4000, size: 'max' }), (steps) => {
        const outputs = new MempoolOutputs();
        const model = new Map<string, readonly number[]>();
        for (const [kind, txid, fingerprints] of steps) {
          if (kind === 'add') {
            outputs.add(String(txid), fingerprints);
            model.set(String(txid), fingerprints);
          } else {
            outputs.delete(String(txid));
            model.delete(String(txid));
          }
        }
        for (const wanted of [0, 7, 50]) {
          const expected = [...model].filter(([, all]) => all.includes(wanted)).map(([txid]) => txid);
          expect(outputs.find(new Set([wanted])).toSorted()).toEqual(expected.toSorted());
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('TransactionScan', () => {
  test('finds payments, and transactions that take an input of one or of its ancestors, but not the payment itself', () => {
    const scripts = new ScriptSet();
    scripts.add(scriptOf(5));
    const unconfirmed = new UnconfirmedPayments();
    const scan = new TransactionScan(scripts, unconfirmed);
    const parent = transaction([coin(1)], [{ value: 40_000, to: 1 }]);
    const child = transaction(
      [parent.coin(0)],
      [{ value: 10_000, to: 5 }, { value: 20_000, to: 5 }, { value: 1000 }],
    );
    const read = (hex: string): FoundTransaction | null => {
      const found = scan.transaction(Buffer.from(hex, 'hex'), []);
      if (found !== null && 'code' in found) throw new Error(found.message);
      return found;
    };
    const found = read(child.hex)!;
    expect(found.outputs.map(({ vout, value }) => [vout, value])).toEqual([
      [0, 10_000],
      [1, 20_000],
    ]);
    expect(found.txid).toBe(hashKey(internal(child.txid)));
    expect(found.outpoints.toString('hex')).toBe(`${internal(parent.txid).toString('hex')}00000000`);
    const outpoints = Buffer.concat([internal(coin(1).txid), Buffer.of(1, 0, 0, 0)]);
    const spender = hashKey(internal(parent.txid));
    unconfirmed.add({
      txid: found.txid,
      spends: [
        { spender: found.txid, outpoints: found.outpoints },
        { spender, outpoints },
      ],
      isGone: false,
    });
    expect(read(parent.hex)).toBeNull();
    expect(read(child.hex)!.conflicts).toEqual([]);
    const other = transaction([coin(1), coin(2)], [{ value: 30_000 }]);
    expect(read(other.hex)).toMatchObject({ outputs: [], conflicts: [found.txid] });
    const doubled = transaction([parent.coin(0)], [{ value: 30_000 }]);
    expect(read(doubled.hex)).toMatchObject({ outputs: [], conflicts: [found.txid] });
    expect(read(transaction([coin(2)], [{ value: 30_000 }]).hex)).toBeNull();
    unconfirmed.delete(found.txid);
    expect(read(other.hex)).toBeNull();
    expect(scan.transaction(Buffer.from(child.hex, 'hex').subarray(0, 60), [])).toMatchObject({
      code: 'block_truncated',
    });
  });
});

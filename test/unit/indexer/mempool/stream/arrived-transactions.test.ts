import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArrivedTransactions } from '#indexer/mempool/stream/arrived-transactions.ts';
import { type HashKey, hashKey } from '#indexer/mempool/stream/membership.ts';
import { txidOfBytes } from '#indexer/mempool/stream/transaction-batch.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';

const made = Array.from({ length: 8 }, (_, place) => {
  const coin = { txid: 'ab'.repeat(32), vout: place, value: 50_000, owner: 0 };
  const bytes = Buffer.from(transaction([coin], [{ value: 30_000 - place }]).hex, 'hex');
  return { bytes, txid: hashKey(txidOfBytes(bytes)!) };
});
const [first, second, third] = made as [Made, Made, Made, ...Made[]];
type Made = (typeof made)[number];

const plenty = 1_000_000;

describe('ArrivedTransactions', () => {
  test('gives a transaction once, before and after a change names it', () => {
    const arrived = new ArrivedTransactions(plenty);
    arrived.add(first.bytes);
    arrived.name(first.txid);
    arrived.add(second.bytes);
    expect(arrived.take(second.txid)).toBe(second.bytes);
    expect(arrived.take(first.txid)).toBe(first.bytes);
    expect(arrived.take(first.txid)).toBeNull();
    expect(arrived.size).toBe(0);
  });

  test('finds a transaction that comes after its change, among others', () => {
    const arrived = new ArrivedTransactions(plenty);
    arrived.name(first.txid);
    for (const { bytes } of [first, second, third]) arrived.add(bytes);
    expect(arrived.take(first.txid)).toBe(first.bytes);
    expect(arrived.take(third.txid)).toBe(third.bytes);
    arrived.name(second.txid);
    arrived.blockConnected();
    expect(arrived.take(second.txid)).toBe(second.bytes);
  });

  test('forgets transactions of a block, and named ones with the block after the next', () => {
    const arrived = new ArrivedTransactions(plenty);
    for (const { bytes } of [first, second]) arrived.add(bytes);
    arrived.name(second.txid);
    arrived.blockConnected();
    expect(arrived.size).toBe(second.bytes.length);
    expect(arrived.take(first.txid)).toBeNull();
    arrived.blockConnected();
    expect(arrived.size).toBe(0);
    expect(arrived.take(second.txid)).toBeNull();
  });

  test('drops bytes that are no transaction when it searches', () => {
    const arrived = new ArrivedTransactions(plenty);
    arrived.add(first.bytes);
    arrived.add(Buffer.from('no transaction'));
    arrived.name(first.txid);
    expect(arrived.size).toBe(first.bytes.length);
  });

  test('above its maximum, forgets transactions without a name, and then the oldest named ones', () => {
    const bytesMax = 2 * first.bytes.length + 10;
    const arrived = new ArrivedTransactions(bytesMax);
    arrived.add(first.bytes);
    arrived.name(first.txid);
    arrived.add(second.bytes);
    arrived.name(second.txid);
    arrived.add(third.bytes);
    expect(arrived.take(third.txid)).toBeNull();
    expect(arrived.take(first.txid)).toBe(first.bytes);
    const large = new ArrivedTransactions(first.bytes.length - 1);
    large.add(first.bytes);
    expect(large.size).toBe(0);
  });

  test('gives what a plain table of named and unnamed transactions gives, for any order of calls', () => {
    const place = fc.nat(made.length - 1);
    const call = fc.oneof(
      fc.record({ kind: fc.constantFrom('add', 'name', 'take'), place }),
      fc.record({ kind: fc.constant('block'), place: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(call, { maxLength: 60 }), (calls) => {
        const arrived = new ArrivedTransactions(plenty);
        // number of blocks after which a transaction is forgotten
        const left = new Map<HashKey, number>();
        for (const { kind, place: index } of calls) {
          const { bytes, txid } = made[index]!;
          if (kind === 'add') {
            // a node sends bytes that it sent before only after a reorganisation
            if (left.has(txid)) continue;
            arrived.add(bytes);
            left.set(txid, 1);
          } else if (kind === 'name') {
            arrived.name(txid);
            if (left.has(txid)) left.set(txid, 2);
          } else if (kind === 'take') {
            expect(arrived.take(txid)).toBe(left.has(txid) ? bytes : null);
            left.delete(txid);
          } else {
            arrived.blockConnected();
            for (const [key, blocks] of left) {
              if (blocks > 1) left.set(key, blocks - 1);
              else left.delete(key);
            }
          }
          const sizes = made.filter((one) => left.has(one.txid)).map((one) => one.bytes.length);
          expect(arrived.size).toBe(sizes.reduce((sum, size) => sum + size, 0));
        }
      }),
    );
  });

  test('keeps a transaction once that arrives again', () => {
    const arrived = new ArrivedTransactions(plenty);
    arrived.add(first.bytes);
    arrived.name(first.txid);
    arrived.add(Buffer.from(first.bytes));
    // the search for another one passes it
    expect(arrived.take(second.txid)).toBeNull();
    expect(arrived.size).toBe(first.bytes.length);
  });
});

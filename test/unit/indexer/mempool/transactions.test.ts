import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InputIndex } from '#indexer/mempool/pending/input-index.ts';
import { type KeptTransaction, KeptTransactions } from '#indexer/mempool/pending/kept-transactions.ts';
import { inputOffsets, pendingPlaces, placeAt } from '#indexer/mempool/pending/pending-place.ts';
import { movesOf, packedId } from '#indexer/mempool/pending/pending-transaction.ts';
import { hashKey } from '#indexer/mempool/stream/membership.ts';
import { MessageQueue } from '#indexer/mempool/stream/message-queue.ts';
import { TransactionBatch, txidOfBytes } from '#indexer/mempool/stream/transaction-batch.ts';
import type { NodeMessage } from '#kernel/contracts/node.ts';
import { asBlockHash, asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { asSats, noSats } from '#kernel/primitives/sats.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import { type Coin, type NewOutput, transaction } from '#test/builders/regtest/regtest-transaction.ts';

const key = Buffer.alloc(32, 9);
const coin = (value: number, vout = 0): Coin => ({ txid: 'ab'.repeat(32), vout, value, owner: 0 });
const revealing = (content: Parameters<typeof envelopeScript>[0], value = 10_000, vout = 1): Coin => ({
  ...coin(value, vout),
  script: envelopeScript(content),
});
const bytesOf = (coins: readonly Coin[], payments: readonly NewOutput[]): Buffer =>
  Buffer.from(transaction(coins, payments).hex, 'hex');
const batchOf = (...transactions: Uint8Array[]): TransactionBatch => {
  const batch = TransactionBatch.of(transactions, key, 4_000_000);
  if (batch === null) throw new Error('no batch');
  return batch;
};
const unknown = { held: null, value: null };

describe('TransactionBatch', () => {
  test('gives ids, sizes, inputs and outputs of transactions with and without witnesses', () => {
    const made = transaction([coin(50_000)], [{ value: 30_000 }, { value: 15_000 }]);
    const reveal = transaction([revealing({ contentType: 'text/plain', body: 'x' })], [{ value: 5000 }]);
    const batch = batchOf(Buffer.from(made.hex, 'hex'), Buffer.from(reveal.hex, 'hex'));
    expect(batch.count).toBe(3);
    expect([1, 2].map((tx) => displayHash(batch.txid(tx)))).toEqual([made.txid, reveal.txid]);
    expect(batch.outputs(1).map(({ vout, value }) => [vout, value])).toEqual([
      [0, 30_000],
      [1, 15_000],
    ]);
    expect([batch.reveal(1), batch.reveal(2)]).toEqual([-1, 0]);
    expect(batch.outpoints(2).readUInt32LE(32)).toBe(1);
    // BIP 141: a Taproot key spend with one input and two outputs
    expect(batch.vsize(1)).toBe(154);
  });

  test('refuses any bytes that are not transactions', () => {
    const good = bytesOf([coin(10_000)], [{ value: 5000 }]);
    expect(TransactionBatch.of([good, good.subarray(0, -1)], key, 100)).toBeNull();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const batch = TransactionBatch.of([bytes], key, 100);
        const txid = txidOfBytes(bytes);
        // random bytes are hardly ever a transaction; if they are, both ways must agree
        expect(txid === null || batch !== null).toBe(true);
      }),
    );
  });

  test('gives the id of exact bytes, and null for more or fewer bytes', () => {
    const { hex, txid } = transaction([coin(10_000)], [{ value: 5000 }]);
    const bytes = Buffer.from(hex, 'hex');
    expect(displayHash(txidOfBytes(bytes)!)).toBe(txid);
    expect(txidOfBytes(Buffer.concat([bytes, Buffer.of(0)]))).toBeNull();
    for (let end = 0; end < bytes.length; end++) expect(txidOfBytes(bytes.subarray(0, end))).toBeNull();
  });
});

describe('movesOf', () => {
  const held = (value: number, satOffset: number) => ({
    held: {
      outpoint: Buffer.alloc(36, 1),
      value: asSats(value),
      script: Buffer.of(0x51),
      holdings: [
        { inscription: packedId(asTxid(Buffer.alloc(32, 2)), 0), key: asInscriptionKey(2), satOffset },
      ],
    },
    value: asSats(value),
  });

  test('puts a reveal on the first sat of its input, or at its pointer', () => {
    const payments = [{ value: 700 }, { value: 9000 }];
    const plain = batchOf(bytesOf([revealing({ body: 'a' })], payments));
    expect(movesOf(plain, 1, [unknown]).inscriptions[0]?.placed).toMatchObject({
      output: { vout: 0 },
      satOffset: 0,
    });
    const pointing = batchOf(bytesOf([revealing({ body: 'a', pointer: 750 })], payments));
    expect(movesOf(pointing, 1, [unknown]).inscriptions[0]?.placed).toMatchObject({
      output: { vout: 1 },
      satOffset: 50,
    });
    const beyond = batchOf(bytesOf([revealing({ body: 'a', pointer: 9700 })], payments));
    expect(movesOf(beyond, 1, [unknown]).inscriptions[0]?.placed).toMatchObject({ satOffset: 0 });
  });

  test('leaves a place unknown that depends on an unknown value', () => {
    const coins = [coin(20_000), revealing({ body: 'a' })];
    const batch = batchOf(bytesOf(coins, [{ value: 20_000 }, { value: 5000 }]));
    expect(movesOf(batch, 1, [unknown, unknown]).inscriptions[0]?.placed.place).toBe(pendingPlaces.unknown);
    const known = movesOf(batch, 1, [{ held: null, value: asSats(20_000) }, unknown]);
    expect(known.inscriptions[0]?.placed).toMatchObject({ output: { vout: 1 }, satOffset: 0 });
    expect(known.made).toMatchObject([{ value: 5000, holdings: [{ satOffset: 0 }] }]);
  });

  test('moves the inscriptions of an input by its sats, into the fee after the last output', () => {
    const batch = batchOf(bytesOf([coin(10_000), coin(10_000, 1)], [{ value: 11_000 }, { value: 4000 }]));
    const at = (satOffset: number) =>
      movesOf(batch, 1, [{ held: null, value: asSats(10_000) }, held(10_000, satOffset)]).transfers[0]
        ?.placed;
    expect(at(999)).toMatchObject({ output: { vout: 0 }, satOffset: 10_999 });
    expect(at(1000)).toMatchObject({ output: { vout: 1 }, satOffset: 0 });
    expect(at(5000)).toMatchObject({ place: pendingPlaces.fee, output: null });
  });

  test('calls a reveal of an input without value unbound', () => {
    const batch = batchOf(bytesOf([revealing({ body: 'a' })], [{ value: 700 }]));
    const [made] = movesOf(batch, 1, [{ held: null, value: noSats }]).inscriptions;
    expect(made?.placed.place).toBe(pendingPlaces.unbound);
  });
});

describe('places', () => {
  test('follow the sums of inputs and outputs', () => {
    expect(inputOffsets([5, null, 7, 8])).toEqual([0, 5, null, null]);
    const outputs = [0, 3, 0, 4].map((value, vout) => ({
      vout,
      value: asSats(value),
      script: new Uint8Array(),
    }));
    const vouts = Array.from({ length: 8 }, (_, offset) => placeAt(offset, outputs).output?.vout);
    expect(vouts).toEqual([1, 1, 1, 3, 3, 3, 3, undefined]);
  });
});

describe('InputIndex', () => {
  test('names the output that an inscription was taken from, and keeps it for the new spender', () => {
    const index = new InputIndex();
    expect(index.add('a', [1, 2])).toEqual([]);
    expect(index.add('b', [2, 3])).toEqual(['a']);
    index.delete('a');
    expect([1, 2, 3].map((input) => index.spender(input))).toEqual([null, 'b', 'b']);
    expect(index.add('b', [2, 3])).toEqual([]);
  });
});

describe('KeptTransactions', () => {
  const kept = (txid: string, sizeBytes: number, fee: number | null): KeptTransaction => ({
    txid,
    position: txid.charCodeAt(0),
    vsize: 100,
    outpoints: new Uint8Array(),
    made: [],
    runes: null,
    sizeBytes,
    replaces: [],
    entry: fee === null ? null : { fee: asSats(fee), firstSeen: 0 },
    block: null,
  });

  test('leaves out the lowest fee rates first', () => {
    const transactions = new KeptTransactions(4, 1_000_000);
    for (const one of [
      kept('a', 1, 500),
      kept('b', 1, 100),
      kept('c', 1, null),
      kept('d', 1, 100),
      kept('e', 1, 200),
    ])
      transactions.add(one);
    expect(transactions.makeRoom().map(({ txid }) => txid)).toEqual(['c', 'd']);
    expect(transactions.size).toBe(3);
    expect(transactions.makeRoom()).toEqual([]);
  });

  test('stays within its bytes, whatever is added and removed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.nat(6000), fc.nat(900))),
        (steps) => {
          const transactions = new KeptTransactions(100, 10_000);
          for (const [txid, size, fee] of steps) {
            transactions.add(kept(txid, size, fee));
            transactions.makeRoom();
            expect(transactions.sizeBytes).toBeLessThanOrEqual(10_000);
          }
          for (const { txid } of transactions.all()) transactions.delete(txid);
          expect(transactions.sizeBytes).toBe(0);
        },
      ),
    );
  });
});

describe('MessageQueue', () => {
  test('gives changes in order, bytes by id, a loss only for a gap of changes, and each once', async () => {
    let listener: (message: NodeMessage) => void = () => undefined;
    const queue = new MessageQueue({
      listen: (given) => {
        listener = given;
        return () => undefined;
      },
      close: () => Promise.resolve(),
    });
    const bytes = bytesOf([coin(10_000)], [{ value: 5000 }]);
    const txid = txidOfBytes(bytes)!;
    listener({ kind: 'transaction', bytes });
    listener({ kind: 'transaction', bytes: Buffer.from('no transaction') });
    listener({ kind: 'gap', topic: 'rawtx' });
    expect(queue.takeLoss()).toBe(false);
    expect(queue.takeBytes(hashKey(txid))).toBe(bytes);
    expect(queue.takeBytes(hashKey(txid))).toBeNull();
    listener({ kind: 'mempool-added', txid, mempoolSequence: 1n });
    listener({ kind: 'mempool-removed', txid, mempoolSequence: 2n });
    await queue.news(60_000, new AbortController().signal);
    expect(queue.takeChanges().map(({ kind }) => kind)).toEqual(['mempool-added', 'mempool-removed']);
    listener({ kind: 'mempool-added', txid, mempoolSequence: 3n });
    listener({ kind: 'gap', topic: 'sequence' });
    listener({ kind: 'mempool-added', txid, mempoolSequence: 5n });
    expect(queue.takeLoss()).toBe(true);
    expect(queue.takeChanges()).toHaveLength(1);
    const hash = asBlockHash(new Uint8Array(32));
    listener({ kind: 'block-disconnected', hash });
    expect(queue.takeBlock()).toBe(false);
    listener({ kind: 'transaction', bytes });
    listener({ kind: 'block-connected', hash });
    expect([queue.takeBlock(), queue.takeBlock()]).toEqual([true, false]);
    // a transaction of the block, which no change has named
    expect(queue.takeBytes(hashKey(txid))).toBeNull();
    listener({ kind: 'transaction', bytes });
    listener({ kind: 'mempool-added', txid, mempoolSequence: 6n });
    listener({ kind: 'block-connected', hash });
    expect(queue.takeBytes(hashKey(txid))).toBe(bytes);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldOutputs } from '#indexer/apply/memory/held-outputs.ts';
import { RecentOutputs } from '#indexer/apply/memory/recent-outputs.ts';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** The outpoint of an output as an input names it; its fingerprint is the number itself. */
function outpoint(output: number): Uint8Array {
  const bytes = new Uint8Array(36);
  new DataView(bytes.buffer).setUint32(0, output, true);
  return bytes;
}

/** A batch of one block whose outputs hold `each` inscriptions; all of them are tracked afterwards. */
function made(height: number, outputs: readonly number[], tracked: TrackedOutputs, each = 1): HeldOutputs {
  const held = new HeldOutputs();
  for (const output of outputs) {
    for (let index = 0; index < each; index++) {
      tracked.add(output, 0);
      held.add({
        fingerprintLow: output,
        fingerprintHigh: 0,
        key: asInscriptionKey(output * 10 + index),
        height: asHeight(height),
        step: 1,
        satOffset: index,
        txids: outpoint(output),
        txidAt: 0,
        vout: 0,
        idTxids: outpoint(output),
        idTxidAt: 0,
        idIndex: 258 + index,
        curse: 3,
      });
    }
  }
  return held;
}

const knows = (table: HeldOutputs, output: number): boolean => table.has(output, 0, outpoint(output), 0);

/** All that a table knows of an output. */
function rowsOf(table: HeldOutputs, output: number): unknown[] {
  const rows: unknown[] = [];
  for (let row = table.first(output, 0); row >= 0; row = table.next(row)) {
    const { txids, txidAt, idTxids, idTxidAt, ...rest } = table.rowAt(row);
    const bytes = [txids.slice(txidAt, txidAt + 32), idTxids.slice(idTxidAt, idTxidAt + 32)];
    rows.push({ ...rest, bytes });
  }
  return rows;
}

describe('recent outputs', () => {
  test('are known with all that the ledger must know, once for each inscription', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs();
    await recent.learn(made(5, [1, 2], tracked, 2), tracked);
    const { table } = recent;
    expect(knows(table, 1)).toBe(true);
    expect(knows(table, 3)).toBe(false);
    expect(table.has(1, 0, outpoint(2), 0)).toBe(false);
    const rows: number[] = [];
    for (let row = table.first(2, 0); row >= 0; row = table.next(row)) rows.push(row);
    expect(rows.map((row) => table.rowAt(row))).toMatchObject(
      [1, 0].map((index) => ({
        key: 20 + index,
        height: 5,
        satOffset: index,
        idIndex: 258 + index,
        curse: 3,
      })),
    );
  });

  test('drop what the batch itself spent when they make room', async () => {
    const tracked = new TrackedOutputs();
    const batch = made(5, [1, 2], tracked);
    tracked.remove(1, 0);
    const recent = new RecentOutputs(2);
    await recent.learn(batch, tracked);
    await recent.learn(made(6, [3], tracked), tracked);
    expect([1, 2, 3].map((output) => knows(recent.table, output))).toEqual([false, true, true]);
  });

  test('are the same in a table that grew row by row and in one that got whole batches', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(300), { maxLength: 90 }), { maxLength: 8 }), (batches) => {
        const whole = new HeldOutputs();
        const single = new HeldOutputs();
        for (const [height, outputs] of batches.entries()) {
          const batch = made(height, outputs, new TrackedOutputs(), 2);
          whole.append(batch);
          for (let row = 0; row < batch.size; row++) single.add(batch.rowAt(row));
        }
        expect(whole.size).toBe(single.size);
        for (let output = 0; output <= 300; output++)
          expect(rowsOf(whole, output)).toEqual(rowsOf(single, output));
      }),
    );
  });

  test('make room by what was spent, then by whole blocks, the oldest first', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs(8);
    await recent.learn(made(5, [1, 2], tracked), tracked);
    await recent.learn(made(6, [3], tracked, 3), tracked);
    await recent.learn(made(7, [4, 5, 6], tracked), tracked);
    const before = recent.table;
    tracked.remove(2, 0);
    tracked.remove(5, 0);
    // six are left of eight: two too many for the half, which the first block's one and a part of the next one's are
    await recent.learn(made(8, [7], tracked), tracked);
    expect([1, 2, 3, 4, 5, 6, 7].filter((output) => knows(recent.table, output))).toEqual([4, 6, 7]);
    expect(recent.table.size).toBe(3);
    // earlier readers find the rows of their time
    expect(knows(before, 3)).toBe(true);
  });

  test('make room in pieces: others have their turn, and find what was there until all of it is', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs(40_000);
    const many = Array.from({ length: 40_000 }, (_, output) => output);
    await recent.learn(made(5, many.slice(0, 10_000), tracked), tracked);
    await recent.learn(made(6, many.slice(10_000), tracked), tracked);
    const before = recent.table;
    let turns = 0;
    let isDone = false;
    const others = (async () => {
      for (; !isDone; turns++) {
        expect(recent.table).toBe(before);
        await new Promise(setImmediate);
      }
    })();
    await recent.learn(made(7, [50_000], tracked), tracked).finally(() => {
      isDone = true;
    });
    await others;
    expect(turns).toBeGreaterThan(3);
    expect([knows(recent.table, 1), knows(recent.table, 50_000)]).toEqual([false, true]);
  });

  test('are none after blocks were taken back, and none any more after the load', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs();
    await recent.learn(made(5, [1], tracked), tracked);
    recent.forget();
    expect(recent.table.size).toBe(0);
    await recent.learn(made(5, [2], tracked), tracked);
    expect(recent.table.size).toBe(1);
    recent.close();
    await recent.learn(made(6, [3], tracked), tracked);
    expect(recent.table.size).toBe(0);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldOutputs } from '#indexer/apply/memory/held-outputs.ts';
import { RecentOutputs } from '#indexer/apply/memory/recent-outputs.ts';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asInscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** Makes the outpoint of an output as an input has it. Its fingerprint is the number of the output. */
function outpoint(output: number): Uint8Array {
  const bytes = new Uint8Array(36);
  new DataView(bytes.buffer).setUint32(0, output, true);
  return bytes;
}

/** Makes a batch of one block. Each output holds `each` inscriptions, and is tracked afterwards. */
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

/** The known rows of an output, copied into a new table. */
function found(recent: RecentOutputs, output: number): HeldOutputs {
  const rows = new HeldOutputs();
  expect(recent.find(rows, output, 0, outpoint(output), 0)).toBe(rows.size > 0);
  return rows;
}

const knows = (recent: RecentOutputs, output: number): boolean => found(recent, output).size > 0;

/** The known rows of an output in this table. */
function rowsOf(table: HeldOutputs, output: number): unknown[] {
  const rows: unknown[] = [];
  for (let row = table.first(output, 0); row >= 0; row = table.next(row)) {
    const { txids, txidAt, idTxids, idTxidAt, ...rest } = table.rowAt(row);
    const bytes = [txids.slice(txidAt, txidAt + 32), idTxids.slice(idTxidAt, idTxidAt + 32)];
    rows.push({ ...rest, bytes });
  }
  return rows;
}

const byOffset = (a: { satOffset: number }, b: { satOffset: number }): number => a.satOffset - b.satOffset;

describe('recent outputs', () => {
  test('are known with all that the ledger needs, once for each inscription', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs();
    await recent.learn(made(5, [1, 2], tracked, 2), tracked);
    expect(knows(recent, 1)).toBe(true);
    expect(knows(recent, 3)).toBe(false);
    expect(recent.find(new HeldOutputs(), 1, 0, outpoint(2), 0)).toBe(false);
    const table = found(recent, 2);
    expect([0, 1].map((row) => table.rowAt(row))).toMatchObject(
      [1, 0].map((index) => ({
        key: 20 + index,
        height: 5,
        satOffset: index,
        idIndex: 258 + index,
        curse: 3,
      })),
    );
  });

  test('drop outputs that the batch itself spent when they make room', async () => {
    const tracked = new TrackedOutputs();
    const batch = made(5, [1, 2], tracked);
    tracked.remove(1, 0);
    const recent = new RecentOutputs(2);
    await recent.learn(batch, tracked);
    await recent.learn(made(6, [3], tracked), tracked);
    expect([1, 2, 3].map((output) => knows(recent, output))).toEqual([false, true, true]);
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

  test('make room by dropping spent outputs, then the oldest parts', async () => {
    const tracked = new TrackedOutputs();
    // each part has two rows, which are those of one block
    const recent = new RecentOutputs(16);
    for (let block = 1; block <= 8; block++) {
      await recent.learn(made(block, [block * 2, block * 2 + 1], tracked), tracked);
    }
    const outputs = Array.from({ length: 16 }, (_, at) => at + 2);
    expect(outputs.filter((output) => knows(recent, output))).toEqual(outputs);
    tracked.remove(5, 0);
    tracked.remove(9, 0);
    // fourteen rows are left, two more than may stay, so the part of the first block is dropped
    await recent.learn(made(9, [30], tracked), tracked);
    const left = outputs.filter((output) => output > 3 && output !== 5 && output !== 9);
    expect([...outputs, 30].filter((output) => knows(recent, output))).toEqual([...left, 30]);
    expect(recent.size).toBe(13);
  });

  test('make room in pieces: other tasks run meanwhile, and find unspent newer outputs', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs(40_000);
    const many = Array.from({ length: 40_000 }, (_, output) => output);
    await recent.learn(made(5, many.slice(0, 12_000), tracked), tracked);
    await recent.learn(made(6, many.slice(12_000), tracked), tracked);
    for (let output = 20_000; output < 30_000; output++) tracked.remove(output, 0);
    let turns = 0;
    let isDone = false;
    const others = (async () => {
      for (; !isDone; turns++) {
        expect(knows(recent, 39_999)).toBe(true);
        await new Promise(setImmediate);
      }
    })();
    await recent.learn(made(7, [50_000], tracked), tracked).finally(() => {
      isDone = true;
    });
    await others;
    expect(turns).toBeGreaterThan(3);
    expect([1, 12_000, 25_000, 50_000].map((output) => knows(recent, output))).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  test('make room in one step if few outputs are spent: the oldest parts are dropped, and others are not read', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs(40_000);
    const many = Array.from({ length: 40_000 }, (_, output) => output);
    for (let at = 0; at < many.length; at += 5000)
      await recent.learn(made(5 + at / 5000, many.slice(at, at + 5000), tracked), tracked);
    // fewer than would fill a part
    for (let output = 0; output < 40_000; output += 11) tracked.remove(output, 0);
    let turns = 0;
    const learning = recent.learn(made(20, [50_000], tracked), tracked);
    setImmediate(() => turns++);
    await learning;
    expect(turns).toBe(0);
    expect(recent.size).toBe(30_001);
    expect([9_999, 10_000, 39_999, 50_000].map((output) => knows(recent, output))).toEqual([
      false,
      true,
      true,
      true,
    ]);
  });

  test('know the newest unspent outputs in full, as a plain list does', async () => {
    const blocks = fc.array(
      fc.record({ outputs: fc.nat(12), each: fc.integer({ min: 1, max: 3 }), spent: fc.array(fc.nat(200)) }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 2, max: 80 }), async (chain, rowsMax) => {
        const tracked = new TrackedOutputs();
        const recent = new RecentOutputs(rowsMax);
        const all: { output: number; rows: unknown[]; isSpent: boolean }[] = [];
        for (const [height, { outputs, each, spent }] of chain.entries()) {
          const names = Array.from({ length: outputs }, (_, index) => all.length + 1 + index);
          const batch = made(height, names, tracked, each);
          await recent.learn(batch, tracked);
          for (const output of names) all.push({ output, rows: rowsOf(batch, output), isSpent: false });
          for (const place of spent) {
            const spentOne = all[all.length - 1 - place];
            if (spentOne === undefined || spentOne.isSpent) continue;
            spentOne.isSpent = true;
            for (let index = 0; index < spentOne.rows.length; index++) tracked.remove(spentOne.output, 0);
          }
          expect(recent.size).toBeLessThanOrEqual(Math.max(rowsMax, rowsMax * 0.75 + batch.size));
          // every unspent output that is unknown is older than every known one
          const unspent = all.filter(({ isSpent }) => !isSpent);
          const known = unspent.map(({ output }) => rowsOf(found(recent, output), output));
          const firstKnown = known.findIndex(({ length }) => length > 0);
          if (firstKnown < 0) continue;
          const inOrder = (rows: unknown[]): unknown[] => rows.toSorted(byOffset as never);
          for (const [at, { rows }] of unspent.entries())
            if (at >= firstKnown) expect(inOrder(known[at]!)).toEqual(inOrder(rows));
        }
      }),
    );
  });

  test('are empty after blocks were taken back, and stay empty after the load', async () => {
    const tracked = new TrackedOutputs();
    const recent = new RecentOutputs();
    await recent.learn(made(5, [1], tracked), tracked);
    recent.forget();
    expect(recent.size).toBe(0);
    await recent.learn(made(5, [2], tracked), tracked);
    expect(recent.size).toBe(1);
    recent.close();
    await recent.learn(made(6, [3], tracked), tracked);
    expect(recent.size).toBe(0);
  });
});

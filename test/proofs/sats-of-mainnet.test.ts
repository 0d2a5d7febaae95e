import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { SatStore } from '#test/support/chain/sats/sat-store.ts';

/**
 * Path of a `blk*.dat` with mainnet's first blocks in chain order, as a node of 2009 wrote it. `npm run test:proofs`
 * has no such file, so this proof runs only if MAINNET_BLK_FILE names one.
 */
const file = process.env['MAINNET_BLK_FILE'];

const magic = 0xd9b4bef9;
const recordHead = 8;

/** Returns complete blocks. The last record of a file may be cut off. */
function* blocksOf(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at + recordHead <= bytes.length && bytes.readUInt32LE(at) === magic; ) {
    const end = at + recordHead + bytes.readUInt32LE(at + 4);
    if (end > bytes.length) return;
    // a copy outside of Node's pool, so that the buffer holds only this block
    yield new Uint8Array(bytes.subarray(at + recordHead, end));
    at = end;
  }
}

test.skipIf(file === undefined)(
  'ranges of sats partition the mined sats of mainnet, at every height',
  () => {
    const store = new SatStore();
    let height = 0;
    let mined = 0;
    for (const bytes of blocksOf(readFileSync(file!))) {
      store.apply([{ height, bytes, spent: null }]);
      mined += subsidyAt(asHeight(height));
      const ranges = [...Object.values(store.ranges()).flat(), ...store.lost()].toSorted(
        (a, b) => a[0] - b[0],
      );
      let next = 0;
      for (const [start, end] of ranges) {
        if (start !== next || end <= start)
          expect([height, start, end]).toEqual([height, next, expect.anything()]);
        next = end;
      }
      expect([height, next]).toEqual([height, mined]);
      height++;
    }
    expect(height).toBeGreaterThan(1000);
    for (let at = 0; at < 100; at++) store.undo();
    expect(
      Object.values(store.ranges())
        .flat()
        .reduce((sum, [start, end]) => sum + end - start, 0),
    ).toBe(
      Array.from({ length: height - 100 }, (_, at) => subsidyAt(asHeight(at))).reduce((a, b) => a + b, 0),
    );
  },
  300_000,
);

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rangesATurn, specialOf } from '#http/sats/output-sats.ts';
import { scanOf } from '#http/sats/scan-outputs.ts';
import { WorkInTurns } from '#kernel/concurrency/turns.ts';
import { asBlockHash, asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import { specialSats } from '#kernel/satributes/special-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import type { TracedSats } from '#sat-ranges/sat-tracer.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

/** Counts the turns of the event loop while a promise is pending. */
async function turnsOf<T>(promise: Promise<T>): Promise<{ value: T; turns: number }> {
  let turns = 0;
  let isPending = true;
  const count = (): void => {
    turns++;
    if (isPending) setImmediate(count);
  };
  setImmediate(count);
  const value = await promise;
  isPending = false;
  return { value, turns };
}

const rangesOf = (starts: readonly number[], size: number): SatRange[] =>
  starts.map((start) => ({ start, end: start + size }));
const book = new SatributeBook('mainnet');
const work = (): WorkInTurns => new WorkInTurns('somebody', rangesATurn);

describe('the special sats of an output', () => {
  test('are the same in several turns as in one, with any bound', async () => {
    const start = fc.integer({ min: 0, max: 2_099_999_997_000_000 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(start, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 200 }),
        async (starts, limit) => {
          // many ranges, so that the scan takes several turns; the first block has many palindromes
          const ranges = rangesOf([...starts, ...Array.from({ length: 300 }, (_, place) => place * 50)], 50);
          const special = await specialOf(ranges, book, work(), limit);
          expect(special).toEqual(specialSats(ranges, book.findable, limit));
        },
      ),
      { numRuns: propertyRuns(20) },
    );
  });

  test('are found in turns of the event loop, for any number of ranges', async () => {
    const ranges = rangesOf(
      Array.from({ length: 20 * rangesATurn }, (_, place) => 1e12 + place * 1_000),
      10,
    );
    const { turns } = await turnsOf(specialOf(ranges, book, work()));
    expect(turns).toBeGreaterThanOrEqual(19);
  });
});

test('many outputs are scanned in turns of the event loop', async () => {
  const count = 20 * rangesATurn;
  const txid = asTxid(Buffer.alloc(32, 1));
  const outpoints = Array.from({ length: count }, (_, vout) => ({ txid, vout }));
  const block = { height: asHeight(0), blockHash: displayHash(asBlockHash(Buffer.alloc(32))) };
  const found = outpoints.map(
    ({ vout }): TracedSats => ({
      output: { txid: displayHash(txid), vout, value: 10, ...block },
      steps: 1,
      state: 'known',
      ranges: rangesOf([1e12 + vout * 1_000], 10),
    }),
  );
  const scan = scanOf({ outpoints, held: new Map(), found }, book, 'somebody', () => 'gone');
  const { value, turns } = await turnsOf(scan);
  expect(value.ranges).toHaveLength(count);
  expect(turns).toBeGreaterThanOrEqual(19);
});

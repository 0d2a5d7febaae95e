import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

// only a few values, so that slots collide, partitions are shared and entries repeat
const half = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constantFrom(63, 64, 127, 128, 0x3fff_ffff, 0xffff_ffff),
  fc.integer({ min: 0, max: 0xffff_ffff }),
);
const actions = fc.array(fc.record({ low: half, high: half, add: fc.boolean() }), { maxLength: 600 });

describe('the tracked outputs', () => {
  test('are a multiset', () => {
    fc.assert(
      fc.property(actions, (program) => {
        const tracked = new TrackedOutputs();
        const model = new Map<string, number>();
        let size = 0;
        // these two numbers count as the same number (see notZero)
        const name = (low: number, high: number): string =>
          low === 0 && high === 0 ? '1 0' : `${low} ${high}`;
        for (const { low, high, add } of program) {
          const count = model.get(name(low, high)) ?? 0;
          expect(tracked.has(low, high)).toBe(count > 0);
          if (add) {
            tracked.add(low, high);
            model.set(name(low, high), count + 1);
            size++;
          } else if (count > 0) {
            tracked.remove(low, high);
            model.set(name(low, high), count - 1);
            size--;
          }
        }
        expect(tracked.size).toBe(size);
        for (const [key, count] of model) {
          const [low = 0, high = 0] = key.split(' ').map(Number);
          expect(tracked.has(low, high)).toBe(count > 0);
        }
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('keep every entry while they grow, and forget all removed ones', () => {
    const tracked = new TrackedOutputs();
    const entry = (at: number): [number, number] => [
      Math.imul(at, 0x9e37_79b1) >>> 0,
      Math.imul(at, 0x85eb_ca6b) >>> 0,
    ];
    const count = 200_000;
    for (let at = 1; at <= count; at++) tracked.add(...entry(at));
    let found = 0;
    for (let at = 1; at <= 2 * count; at++) if (tracked.has(...entry(at))) found++;
    expect(found).toBe(count);
    for (let at = 1; at <= count; at += 2) tracked.remove(...entry(at));
    for (let at = 1; at <= count; at++) if (tracked.has(...entry(at)) === (at % 2 === 1)) found = -1;
    expect(found).toBe(count);
    expect(tracked.size).toBe(count / 2);
  });

  test('count an output with thousands of inscriptions', () => {
    const tracked = new TrackedOutputs();
    for (let count = 0; count < 3000; count++) tracked.add(5, 9);
    for (let count = 0; count < 2999; count++) tracked.remove(5, 9);
    expect(tracked.has(5, 9)).toBe(true);
    tracked.remove(5, 9);
    expect(tracked.has(5, 9)).toBe(false);
    expect(tracked.size).toBe(0);
  });

  test('end the process if one is missing', () => {
    expect(() => new TrackedOutputs().remove(1, 2)).toThrow(/not among the tracked ones/u);
  });

  test('apply a block: made outputs first, then spent ones', () => {
    const tracked = new TrackedOutputs();
    const none = new Uint32Array(0);
    const one = Uint32Array.of(7);
    tracked.apply({ addLow: one, addHigh: one, removeLow: one, removeHigh: one });
    expect(tracked.has(7, 7)).toBe(false);
    tracked.apply({ addLow: one, addHigh: one, removeLow: none, removeHigh: none });
    expect(tracked.has(7, 7)).toBe(true);
    tracked.clear();
    expect([tracked.has(7, 7), tracked.size]).toEqual([false, 0]);
  });

  test('take no more than their share of memory', () => {
    const tracked = new TrackedOutputs();
    for (let at = 0; at < 1_000_000; at++) {
      tracked.add(Math.imul(at, 0x9e37_79b1) >>> 0, Math.imul(at, 0x85eb_ca6b) >>> 0);
    }
    // with 10,000,000 entries this is at most 160 MB
    expect(tracked.sizeBytes / tracked.size).toBeLessThanOrEqual(24);
  });
});

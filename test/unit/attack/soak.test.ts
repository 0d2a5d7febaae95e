import { describe, expect, test } from 'vitest';
import { judged, slopeOf, soakLines } from '#test/attack/soak.ts';

const megabyte = 1e6;
const holding = (seconds: number, memoryMegabytes: number, counts: Record<string, number> = {}) => ({
  seconds,
  memoryBytes: memoryMegabytes * megabyte,
  heapBytes: 100 * megabyte,
  files: 50,
  counts,
});
/**
 * Makes a sample every ten seconds: half a gigabyte while the process warms up, then a rise of this many megabytes an
 * hour.
 */
const samples = (rise: number) =>
  Array.from({ length: 100 }, (_, index) =>
    holding(index * 10, index < 20 ? 500 - index : 300 + (rise * index * 10) / 3600),
  );

describe('a soak', () => {
  test('measures the slope by least squares', () => {
    expect(
      slopeOf([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).toBe(2);
    expect(
      slopeOf([
        [0, 5],
        [1, 0],
        [2, 1],
        [3, 4],
      ]),
    ).toBeCloseTo(-0.2, 10);
    expect(slopeOf([[1, 1]])).toBe(0);
  });

  test('reckons eight hours from what comes after the warm-up', () => {
    const { memorySlope, heapSlope, inEightHoursBytes, faults } = judged(
      samples(10),
      holding(0, 300),
      holding(1000, 300),
    );
    expect(memorySlope / megabyte).toBeCloseTo(10, 6);
    expect(heapSlope).toBe(0);
    expect(inEightHoursBytes / megabyte).toBeCloseTo(382.75, 2);
    expect(faults).toEqual([]);
    expect(judged(samples(100), holding(0, 300), holding(1000, 300)).faults).toEqual([
      '1127.5 MB in 8 hours',
    ]);
  });

  test('names what is left over at the end', () => {
    const before = holding(0, 300, { TCPSocketWrap: 4, streams: 0 });
    const after = { ...holding(1000, 300, { TCPSocketWrap: 5, streams: 40, Timeout: 9 }), files: 90 };
    const result = judged(samples(0), before, after);
    expect(result.faults).toEqual(['files 50 → 90', 'streams 0 → 40', 'Timeout 0 → 9']);
    expect(soakLines(result)).toContain('  streams: 0 → 40');
    expect(soakLines(result).at(-1)).toBe('soak: FAILED files 50 → 90; streams 0 → 40; Timeout 0 → 9');
  });
});

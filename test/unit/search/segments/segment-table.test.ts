import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planSeal, type Segment, sealedEnd, windowEnd } from '#search/segments/segment-table.ts';

interface Run {
  readonly segments: readonly Segment[];
  /** How many texts were sealed in total. A text counts each time it is sealed. */
  readonly sealedTexts: number;
}

/** Seals tails one after the other like the sealer. Segments end where windows end, and at `segmentTextBytesMax`. */
function seal(tails: readonly number[], windowIds: number, bytesMax: number, bytesEach: number): Run {
  let segments: Segment[] = [];
  let next = 0;
  let made = 0;
  let sealedTexts = 0;
  for (const tail of tails) {
    next += tail;
    while (sealedEnd(segments) < next) {
      const from = sealedEnd(segments);
      const fits = Math.max(1, Math.floor(bytesMax / bytesEach));
      const nextId = Math.min(next, windowEnd(from, windowIds), from + fits);
      const bounds = { windowIds, segmentTextBytesMax: bytesMax };
      const step = planSeal(segments, nextId, (nextId - from) * bytesEach, bounds);
      segments = segments.slice(0, segments.length - step.replaced.length);
      expect(step.firstId).toBe(sealedEnd(segments));
      expect(step.nextId).toBe(nextId);
      const textBytes = (nextId - step.firstId) * bytesEach;
      segments.push({ segmentId: made++, firstId: step.firstId, nextId, textBytes });
      sealedTexts += nextId - step.firstId;
    }
  }
  return { segments, sealedTexts };
}

const tails = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 });

describe('the plan of the sealer', () => {
  test('covers all ids once, never across windows, with one segment a full window and few in the last', () => {
    fc.assert(
      fc.property(tails, fc.constantFrom(8, 64, 1024), (sizes, windowIds) => {
        const { segments } = seal(sizes, windowIds, 1e9, 1);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        let end = 0;
        for (const segment of segments) {
          expect(segment.firstId).toBe(end);
          end = segment.nextId;
          expect(Math.floor(segment.firstId / windowIds)).toBe(Math.floor((end - 1) / windowIds));
        }
        expect(end).toBe(total);
        expect(segments.length).toBeLessThanOrEqual(Math.floor(total / windowIds) + Math.log2(windowIds) + 1);
      }),
    );
  });

  test('seals a text about as often as a window can be halved, even one by one', () => {
    const { segments, sealedTexts } = seal(Array<number>(4096).fill(1), 4096, 1e9, 1);
    expect(segments).toHaveLength(1);
    expect(sealedTexts).toBeLessThanOrEqual(4096 * 14);
  });

  test('keeps segments below their bound of bytes', () => {
    fc.assert(
      fc.property(tails, fc.integer({ min: 1, max: 50 }), (sizes, bytesEach) => {
        const { segments } = seal(sizes, 1024, 1000, bytesEach);
        for (const segment of segments) {
          expect(segment.textBytes).toBeLessThanOrEqual(Math.max(1000, bytesEach));
        }
        // two neighbouring segments of a window would not fit into one segment
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const bound = (2 * total * bytesEach) / 1000 + Math.ceil(total / 1024) * 12 + 2;
        expect(segments.length).toBeLessThanOrEqual(bound);
      }),
    );
  });
});

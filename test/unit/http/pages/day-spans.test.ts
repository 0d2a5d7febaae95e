import fc from 'fast-check';
import { expect, test } from 'vitest';
import { daySpans, totalIn } from '#http/pages/day-spans.ts';

test('spans have each day once, in order, and are 40 at most of one length', () => {
  fc.assert(
    fc.property(fc.nat(30_000), fc.integer({ min: 1, max: 5_000 }), (first, more) => {
      const last = first + more;
      const spans = daySpans(first, last);
      expect(spans.length).toBeLessThanOrEqual(40);
      expect(spans[0]?.first).toBe(first);
      expect(spans.at(-1)?.last).toBe(last);
      for (const [nth, span] of spans.entries()) {
        expect(span.last).toBeGreaterThanOrEqual(span.first);
        if (nth === 0) continue;
        expect(span.first).toBe((spans[nth - 1]?.last ?? 0) + 1);
        if (nth < spans.length - 1) expect(span.last - span.first).toBe(spans[0]!.last - spans[0]!.first);
      }
      const days = Array.from({ length: more + 1 }, (_, nth) => ({ day: first + nth }));
      expect(spans.reduce((sum, span) => sum + totalIn(span, days, () => 1), 0)).toBe(more + 1);
    }),
  );
});

test('a span of one day has its date, one of more has both', () => {
  expect(daySpans(19_389, 19_390).map(({ label }) => label)).toEqual(['2023-02-01', '2023-02-02']);
  expect(daySpans(19_389, 19_429)[0]?.label).toBe('2023-02-01 to 2023-02-02');
});

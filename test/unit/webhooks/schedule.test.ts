import { expect, test } from 'vitest';
import { pauseAfter } from '#webhooks/schedule.ts';

const [second, minute, hour] = [1000, 60_000, 3_600_000];

test('pauses grow from seconds to three hours, and end after three days of these', () => {
  const pauses: (number | null)[] = [];
  for (let failures = 1; pauses.at(-1) !== null; failures++) pauses.push(pauseAfter(failures, 0.5));
  expect(pauses).toEqual([
    5 * second,
    30 * second,
    2 * minute,
    10 * minute,
    30 * minute,
    hour,
    ...Array.from({ length: 24 }, () => 3 * hour),
    null,
  ]);
});

test('each pause is up to a fifth shorter or longer', () => {
  expect(pauseAfter(1, 0)).toBe(4 * second);
  expect(pauseAfter(1, 0.999_999)).toBeCloseTo(6 * second, -1);
});

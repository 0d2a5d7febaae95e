import { describe, expect, test } from 'vitest';
import { Repeats } from '#kernel/reports/repeats.ts';

describe('a repeated message', () => {
  test('is logged once a minute, and at once if it changed or returned', () => {
    let now = 0;
    const repeats = new Repeats(() => now);
    const due = (what: string, seconds: number): boolean => {
      now = seconds * 1000;
      return repeats.isDue(what);
    };
    expect(due('node_unreachable', 0)).toBe(true);
    expect(due('node_unreachable', 59)).toBe(false);
    expect(due('node_unreachable', 60)).toBe(true);
    expect(due('node_warming_up', 61)).toBe(true);
    expect(due('node_unreachable', 62)).toBe(true);
    expect(due('node_unreachable', 63)).toBe(false);
    repeats.reset();
    expect(due('node_unreachable', 64)).toBe(true);
  });
});

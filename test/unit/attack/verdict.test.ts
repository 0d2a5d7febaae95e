import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allScenarios } from '#test/attack/all-scenarios.ts';
import type { GoodAnswer } from '#test/attack/clients/messages.ts';
import { bounds, faultsOf, type Measured, recoveryOf, waitsOf } from '#test/attack/verdict.ts';

const answer = (given: Partial<GoodAnswer>): GoodAnswer => ({
  kind: 'lookup',
  path: '/',
  startedAt: 0,
  milliseconds: 5,
  outcome: 200,
  ...given,
});
const hundred = Array.from({ length: 100 }, (_, index) => answer({ startedAt: index }));
const withstood: Measured = {
  scenario: 'test',
  answers: hundred,
  probe: null,
  peakBytes: 300e6,
  recoveryMs: 0,
  tally: { 200: 5, 429: 7, 503: 9, 404: 1, cut: 2 },
  isAlive: true,
};
const faults = (given: Partial<Measured>): string[] => faultsOf({ ...withstood, ...given }, bounds);

describe('the verdict on an attack', () => {
  test('is that it was withstood where the good client felt nothing', () => {
    expect(faults({})).toEqual([]);
  });

  test('names what the good client felt: waits, refusals, errors of connections', () => {
    const slow = answer({ milliseconds: 501 });
    expect(faults({ answers: [...hundred, slow, slow] })).toEqual(['p99 of lookup: 501 ms']);
    expect(faults({ answers: [...hundred, answer({ kind: 'search', milliseconds: 1999 })] })).toEqual([]);
    const refused = answer({ kind: 'stream', outcome: 503 });
    const reset = answer({ outcome: 'ECONNRESET' });
    expect(faults({ answers: [...hundred, refused, reset, reset] })).toEqual([
      '1 × stream 503',
      '2 × lookup ECONNRESET',
    ]);
  });

  test('names errors of ours for the attacker, memory, a late recovery and the end of the process', () => {
    expect(faults({ tally: { 500: 1, 503: 5, 504: 2 } })).toEqual([
      '1 × 500 for the attacker',
      '2 × 504 for the attacker',
    ]);
    expect(faults({ peakBytes: 901e6 })).toEqual(['memory 901 MB']);
    expect(faults({ recoveryMs: 5100 })).toEqual(['normal again after 5.1 s']);
    expect(faults({ recoveryMs: null })).toEqual(['not normal again']);
    expect(faults({ isAlive: false, recoveryMs: null })).toEqual(['the process died']);
  });

  test('counts only the asked kind in a percentile', () => {
    const answers = [...hundred, answer({ kind: 'page', milliseconds: 900 })];
    expect(waitsOf(answers, ['lookup'])).toEqual({ count: 100, p50Ms: 5, p99Ms: 5 });
    expect(waitsOf(answers, ['page']).p99Ms).toBe(900);
    expect(waitsOf([], ['page'])).toEqual({ count: 0, p50Ms: 0, p99Ms: 0 });
  });
});

describe('the recovery after an attack', () => {
  const after = (from: number): GoodAnswer[] =>
    Array.from({ length: 100 }, (_, index) => answer({ startedAt: from + index * 20 }));

  test('ends with the last bad answer', () => {
    const late = answer({ startedAt: 1010, milliseconds: 700 });
    expect(recoveryOf(after(1000), 1000, 3000, bounds)).toBe(0);
    expect(recoveryOf([late, ...after(1000)], 1000, 3000, bounds)).toBeNull();
    expect(recoveryOf([late, ...after(1000)], 1000, 3300, bounds)).toBe(710);
  });

  test('is not known before the good client has asked for a while, or where it gets no answers', () => {
    expect(recoveryOf(after(1000), 1000, 1200, bounds)).toBeNull();
    expect(recoveryOf([], 1000, 9000, bounds)).toBeNull();
  });

  test('leaves out what was asked during the attack', () => {
    const during = answer({ startedAt: 990, outcome: 'timeout', milliseconds: 10_000 });
    expect(recoveryOf([during, ...after(1000)], 1000, 3000, bounds)).toBe(0);
  });
});

test('docs/attacks.md has a row for each scenario, with what it does', () => {
  const text = readFileSync(new URL('../../../docs/attacks.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gmu)].map(([, name, what]) => [name, what]);
  expect(rows).toEqual(allScenarios.map(({ name, what }) => [name, what]));
});

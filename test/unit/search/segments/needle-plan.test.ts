import { describe, expect, test } from 'vitest';
import { planNeedles } from '#search/segments/needle-plan.ts';

const points = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!);

describe('the plan of a query', () => {
  test('looks short needles up as they are and checks the others', () => {
    const plan = planNeedles(['a', 'b😀', 'cde', 'fghi'])!;
    expect(plan.required).toEqual([[0, ...points('b😀')], points('cde'), [0, 0, ...points('a')]]);
    expect(plan.optional).toEqual([points('fgh'), points('ghi')]);
    expect(plan.checked.map(String)).toEqual(['fghi']);
    expect(plan.all.map(String)).toEqual(['fghi', 'b😀', 'cde', 'a']);
  });

  test('leaves out needles that others contain', () => {
    const plan = planNeedles(['abcd', 'bc', 'a', 'abcd', 'bcd'])!;
    expect(plan.required).toEqual([]);
    expect(plan.all.map(String)).toEqual(['abcd']);
  });

  test('is bounded for the longest needles', () => {
    const plan = planNeedles(
      Array.from({ length: 32 }, (_, i) => String.fromCodePoint(0x4e00 + i).padEnd(1000, 'abcdefgh')),
    )!;
    expect(plan.optional.length).toBeLessThanOrEqual(48);
    expect(planNeedles(['a'.repeat(1000)])!.optional).toEqual([points('aaa')]);
  });

  test('has the same key for the same question only', () => {
    const key = (...needles: string[]): string => planNeedles(needles)!.key;
    expect(key('x', 'y')).toBe(key('y', 'x', 'x'));
    expect(key('xy')).not.toBe(key('x', 'y'));
  });

  test('is null if a needle cannot be in any text', () => {
    expect(planNeedles(['a', '\ud800'])).toBeNull();
  });
});

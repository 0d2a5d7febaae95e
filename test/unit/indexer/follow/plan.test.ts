import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plan } from '#indexer/follow/plan.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';

const ref = (height: number, branch: number): BlockRef => ({
  height,
  hash: Uint8Array.from({ length: 32 }, (_, index) => (index === 0 ? branch : height + index)),
});
const shown = (refs: readonly BlockRef[]): string[] => refs.map(({ height, hash }) => `${height}:${hash[0]}`);

/** What a plan does to our chain. */
function follow(ours: readonly BlockRef[], theirs: readonly BlockRef[]): BlockRef[] {
  const { undoTo, apply } = plan(ours, theirs);
  const left = undoTo === null ? ours : ours.filter(({ height }) => height <= undoTo);
  return [...left, ...apply];
}

/** Two chains with gaps that share their beginning and may share heights later, on other branches. */
const forks = fc
  .record({
    shared: fc.uniqueArray(fc.nat(200), { maxLength: 20 }),
    ours: fc.uniqueArray(fc.nat(400), { maxLength: 20 }),
    theirs: fc.uniqueArray(fc.nat(400), { maxLength: 20 }),
    branch: fc.nat(1),
  })
  .map(({ shared, ours, theirs, branch }) => {
    const common = shared.sort((a, b) => a - b).map((height) => ref(height, 0));
    const above = (common.at(-1)?.height ?? -1) + 1;
    const branchOf = (heights: number[], of: number): BlockRef[] =>
      heights.sort((a, b) => a - b).map((height) => ref(above + height, of));
    return { ours: [...common, ...branchOf(ours, 1)], theirs: [...common, ...branchOf(theirs, 1 + branch)] };
  });

describe('a plan', () => {
  test('leads from any chain to any other', () => {
    fc.assert(
      fc.property(forks, ({ ours, theirs }) => {
        expect(shown(follow(ours, theirs))).toEqual(shown(theirs));
      }),
      { numRuns: 2000 },
    );
  });

  test('takes back and applies nothing that both chains begin with', () => {
    fc.assert(
      fc.property(forks, ({ ours, theirs }) => {
        const { undoTo, apply } = plan(ours, theirs);
        let shared = 0;
        while (ours[shared] !== undefined && shown(ours)[shared] === shown(theirs)[shared]) shared++;
        expect(apply).toHaveLength(theirs.length - shared);
        expect(undoTo === null).toBe(shared === ours.length);
        if (undoTo !== null) expect(undoTo).toBe(ours[shared - 1]?.height ?? -1);
      }),
      { numRuns: 2000 },
    );
  });

  test('does nothing where nothing is new', () => {
    const chain = [0, 1, 2].map((height) => ref(height, 0));
    expect(plan(chain, chain)).toEqual({ undoTo: null, apply: [] });
    expect(plan([], [])).toEqual({ undoTo: null, apply: [] });
  });

  test('takes everything back where the chains share nothing', () => {
    expect(plan([ref(0, 1)], [ref(0, 2)])).toEqual({ undoTo: -1, apply: [ref(0, 2)] });
  });

  test('goes back where a gap of ours is filled, because keys are in the order of application', () => {
    const ours = [0, 1, 5].map((height) => ref(height, 0));
    const theirs = [0, 1, 4, 5].map((height) => ref(height, 0));
    expect(plan(ours, theirs)).toEqual({ undoTo: 1, apply: theirs.slice(2) });
  });

  test('goes back where the other chain is shorter', () => {
    const ours = [0, 1, 2].map((height) => ref(height, 0));
    expect(plan(ours, ours.slice(0, 2))).toEqual({ undoTo: 1, apply: [] });
  });
});

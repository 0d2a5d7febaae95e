import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '#test/support/property-runs.ts';
import { type Liability, liabilityLeaf, rootOfPath, SumTree } from '#tokenpay/reserves/sum-tree.ts';

const amounts = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), fc.bigInt({ min: 0n, max: 3n }));
/** Leaves of a tree: one for each account of an asset. */
const liabilities = fc
  .uniqueArray(fc.record({ account: fc.string({ minLength: 1 }), amount: amounts, salt: fc.nat() }), {
    minLength: 1,
    maxLength: 40,
    selector: ({ account }) => account,
  })
  .map((all): Liability[] =>
    all.map(({ salt, ...of }) => ({ ...of, asset: 'BTC', salt: salt.toString(16).padStart(64, '0') })),
  );
const treeOf = (all: readonly Liability[]): SumTree => new SumTree(all.map(liabilityLeaf));

describe('a sum tree', () => {
  test('has the sum of all leaves, and a path to its root from each', () => {
    fc.assert(
      fc.property(liabilities, (all) => {
        const tree = treeOf(all);
        expect(tree.root?.sum).toBe(all.reduce((sum, { amount }) => sum + amount, 0n));
        const paths = tree.paths();
        for (const one of all) {
          const leaf = liabilityLeaf(one);
          const path = paths.get(leaf.hash)!;
          expect(rootOfPath(leaf, path)).toEqual(tree.root);
          expect(path.length).toBeLessThanOrEqual(Math.ceil(Math.log2(all.length)));
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('has another root after any change of a leaf, and the same for any order of leaves', () => {
    fc.assert(
      fc.property(liabilities, fc.nat(), fc.bigInt({ min: 1n, max: 2n ** 64n }), (all, place, more) => {
        const { root } = treeOf(all);
        expect(treeOf(all.toReversed()).root).toEqual(root);
        const at = place % all.length;
        const changed = (change: Partial<Liability>) =>
          treeOf(all.map((one, index) => (index === at ? { ...one, ...change } : one))).root?.hash;
        const one = all[at]!;
        expect([
          changed({ amount: one.amount + more }),
          changed({ asset: 'ab'.repeat(32) }),
          changed({ salt: 'f'.repeat(64) }),
          changed({ account: `${one.account}\n` }),
        ]).not.toContain(root?.hash);
        expect(treeOf(all.toSpliced(at, 1)).root).not.toEqual(root);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('proves no other amount with a path, whatever the sums in it', () => {
    fc.assert(
      fc.property(liabilities, fc.bigInt({ min: 1n, max: 2n ** 64n }), (all, moved) => {
        const tree = treeOf(all);
        const [one] = all as [Liability];
        const path = tree.paths().get(liabilityLeaf(one).hash)!;
        const less = liabilityLeaf({ ...one, amount: one.amount + moved });
        expect(rootOfPath(less, path).hash).not.toBe(tree.root?.hash);
        const [first, ...rest] = path;
        if (first === undefined) return;
        const shifted = rootOfPath(less, [{ ...first, sum: first.sum - moved }, ...rest]);
        expect(shifted.hash).not.toBe(tree.root?.hash);
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  test('is empty without leaves', () => {
    expect(new SumTree([]).root).toBeNull();
    expect(() => liabilityLeaf({ salt: '', account: 'a', asset: 'BTC', amount: -1n })).toThrow();
  });
});

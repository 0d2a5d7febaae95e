import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RuneAmount } from '#kernel/contracts/holdings.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { makeReveals } from '#orders/making/make-transactions.ts';
import { runeRoute } from '#orders/parents/rune-route.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const rune = (tx: number, amount: bigint): RuneAmount => ({
  id: { block: asU128(840_000n), tx },
  amount: asU128(amount),
});
const held = fc.array(
  fc.uniqueArray(
    fc
      .tuple(fc.nat({ max: 3 }), fc.bigInt({ min: 1n, max: 10n ** 30n }))
      .map(([tx, amount]) => rune(tx, amount)),
    { selector: ({ id }) => id.tx, maxLength: 3 },
  ),
  { minLength: 1, maxLength: 4 },
);

/**
 * Destinations of a transaction's runes by ord's rules: edicts first, then the rest to the pointer, or to output 0 if
 * there is no pointer.
 */
function moved(
  parents: readonly (readonly RuneAmount[])[],
  route: ReturnType<typeof runeRoute>,
): Map<string, bigint> {
  const left = new Map<number, bigint>();
  for (const { id, amount } of parents.flat()) left.set(id.tx, (left.get(id.tx) ?? 0n) + BigInt(amount));
  const at = new Map<string, bigint>();
  const add = (output: number, tx: number, amount: bigint): void => {
    at.set(`${output} ${tx}`, (at.get(`${output} ${tx}`) ?? 0n) + amount);
  };
  for (const { id, amount, output } of route?.edicts ?? []) {
    left.set(id.tx, left.get(id.tx)! - BigInt(amount));
    add(output, id.tx, BigInt(amount));
  }
  for (const [tx, amount] of left) if (amount > 0n) add(route?.pointer ?? 0, tx, amount);
  return at;
}

describe('the runes of parents', () => {
  test('go to the outputs of their own parents', () => {
    fc.assert(
      fc.property(held, fc.nat({ max: 3 }), (parents, firstOutput) => {
        const wanted = new Map(
          parents.flatMap((runes, index) =>
            runes.map(({ id, amount }) => [`${firstOutput + index} ${id.tx}`, BigInt(amount)] as const),
          ),
        );
        expect(moved(parents, runeRoute(parents, firstOutput))).toEqual(wanted);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('need no runestone if they return without it, or if there are no runes', () => {
    expect(runeRoute([[rune(1, 5n)], []], 0)).toBeNull();
    expect(runeRoute([[], []], 3)).toBeNull();
  });

  test('are unknown: an order with several parents is not delivered', async () => {
    const parent = { isUnspent: true, runes: null };
    const funds = { payments: [], parents: [parent, { ...parent, runes: [] }] };
    const why = await makeReveals({} as never, {} as never, {} as never, funds as never);
    expect(why).toContain('INDEX_RUNES');
  });

  test('that are unknown go to the first parent', () => {
    expect(runeRoute([null], 0)).toBeNull();
    expect(runeRoute([null, null], 2)).toEqual({ edicts: [], pointer: 2 });
  });
});

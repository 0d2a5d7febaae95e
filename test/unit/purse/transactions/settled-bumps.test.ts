import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { type OpenBump, settledBumps } from '#purse/transactions/supersede.store.ts';

const txidOf = (id: number) => trustedTxid(Buffer.alloc(32, id));
const bumpOf = (
  id: number,
  { family = id, ...facts }: Partial<Omit<OpenBump, 'family'>> & { family?: number },
) => ({
  txid: txidOf(id),
  family: txidOf(family),
  plan: { inputs: [] },
  isSuperseded: false,
  isMined: false,
  isOrphan: false,
  isTaken: false,
  ...facts,
});

describe('bumps', () => {
  test('end if another one of their family is mined, and come back if that is undone', () => {
    const [first, second] = [bumpOf(1, {}), bumpOf(2, { family: 1 })];
    const mined = { ...first, isMined: true };
    expect(settledBumps([second, mined])).toEqual({ ended: [second], next: null });
    const ended = { ...second, isSuperseded: true };
    expect(settledBumps([ended, mined])).toEqual({ ended: [], next: null });
    expect(settledBumps([ended, first])).toEqual({ ended: [], next: ended });
  });

  test('that are mined are taken up before others', () => {
    const [newer, mined] = [
      bumpOf(1, { isSuperseded: true }),
      bumpOf(2, { isSuperseded: true, isMined: true, isOrphan: true, isTaken: true }),
    ];
    expect(settledBumps([newer, mined]).next).toBe(mined);
  });

  const anyBumps = fc
    .array(
      fc.record({
        family: fc.integer({ min: 0, max: 3 }),
        isSuperseded: fc.boolean(),
        isMined: fc.boolean(),
        isOrphan: fc.boolean(),
        isTaken: fc.boolean(),
      }),
      { maxLength: 12 },
    )
    .map((all) => {
      const mined = new Set<number>();
      // blocks contain at most one transaction of a family
      return all.map((facts, place) => {
        const isMined = facts.isMined && !mined.has(facts.family);
        if (isMined) mined.add(facts.family);
        return bumpOf(place + 10, { ...facts, isMined });
      });
    });

  test('end in a stable state: the mined ones and those that can be mined are live, no other one is', () => {
    fc.assert(
      fc.property(anyBumps, (given) => {
        let bumps = given;
        for (let changes = 0; ; changes++) {
          expect(changes).toBeLessThanOrEqual(given.length + 1);
          const { ended, next } = settledBumps(bumps);
          if (ended.length === 0 && next === null) break;
          bumps = bumps.map((bump) =>
            ended.includes(bump)
              ? { ...bump, isSuperseded: true }
              : bump === next && ended.length === 0
                ? { ...bump, isSuperseded: false }
                : bump,
          );
        }
        for (const bump of bumps) {
          const hasMined = bumps.some(
            ({ family, isMined, txid }) =>
              isMined && Buffer.compare(family, bump.family) === 0 && txid !== bump.txid,
          );
          const canBe = bump.isMined || !(bump.isOrphan || bump.isTaken || hasMined);
          expect(bump.isSuperseded).toBe(!canBe);
        }
      }),
    );
  });
});

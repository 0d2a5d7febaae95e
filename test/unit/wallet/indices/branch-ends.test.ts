import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unreachable } from '#kernel/unreachable.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import {
  type BranchEnds,
  covers,
  endsAt,
  highestOf,
  indexEnd,
  movedBy,
  refilled,
  releasedAtOnce,
  startAfter,
} from '#wallet/indices/branch-ends.ts';
import { leasedAtOnce } from '#wallet/indices/index-leases.ts';

interface Stored {
  next: BranchEnds;
  released: BranchEnds;
}

/** An event of a wallet. `kill` happens between the write of the mark and that of the database. */
type Step =
  | { readonly kind: 'take'; readonly orders: number }
  | { readonly kind: 'lease' | 'use'; readonly process: number }
  | { readonly kind: 'start' | 'refill' | 'kill' | 'dump' | 'restore' | 'lose' };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('take' as const), orders: fc.integer({ min: 1, max: 101 }) }),
  fc.record({ kind: fc.constantFrom('lease' as const, 'use' as const), process: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constantFrom('start', 'refill', 'kill', 'dump', 'restore', 'lose') }),
);

/** A wallet with its database, its mark and its releaser. `taken` are the indices that customers were shown. */
class World {
  stored: Stored = { next: endsAt(0), released: endsAt(0) };
  mark: BranchEnds | null = null;
  isReleasing = false;
  dumps: Stored[] = [];
  readonly taken: number[] = [];
  /** Indices that processes have in memory. A restore does not change them. */
  readonly leased = new Map<number, number[]>();

  happens(what: Step): void {
    switch (what.kind) {
      case 'take':
        this.take(what.orders);
        break;
      case 'lease':
        this.lease(what.process);
        break;
      case 'use':
        this.use(what.process);
        break;
      case 'start':
      case 'kill':
        this.start({ isKilled: what.kind === 'kill' });
        break;
      case 'refill':
        this.refill();
        break;
      case 'dump':
        this.dumps.push(this.stored);
        break;
      case 'restore':
      case 'lose':
        this.restore(what.kind === 'restore' ? this.dumps.at(-1) : undefined);
        break;
      default:
        unreachable(what);
    }
  }

  /**
   * Restores a dump. Until a start, the restored rows are ignored (release.store.ts). Without a dump the database is
   * empty.
   */
  restore(dump: Stored | undefined): void {
    this.isReleasing = false;
    this.stored = dump ?? { next: endsAt(0), released: endsAt(0) };
  }

  take(count: number): void {
    const { next, released } = this.stored;
    if (!this.isReleasing || next.orders + count > released.orders || next.own + 1 > released.own) return;
    for (let index = 0; index < count; index++) this.taken.push(next.orders + index);
    this.stored = { next: { ...next, orders: next.orders + count, own: next.own + 1 }, released };
  }

  /** Leases indices to a process. The rest of its last lease becomes a gap. */
  lease(process: number): void {
    const { next, released } = this.stored;
    if (!this.isReleasing || next.orders + leasedAtOnce > released.orders) return;
    const range = Array.from({ length: leasedAtOnce }, (_, index) => next.orders + index);
    this.leased.set(process, range);
    this.stored = { next: { ...next, orders: next.orders + leasedAtOnce }, released };
  }

  /** Uses a leased index. This works even after a restore, which cannot end leases in memory. */
  use(process: number): void {
    const index = this.leased.get(process)?.shift();
    if (index !== undefined) this.taken.push(index);
  }

  start({ isKilled = false } = {}): void {
    const from = startAfter(this.mark, this.stored);
    const until = movedBy(from, releasedAtOnce);
    this.mark = highestOf(until, this.mark ?? until);
    this.isReleasing = !isKilled;
    if (!isKilled) this.stored = { next: from, released: until };
  }

  refill(): void {
    if (!this.isReleasing) return;
    const released = refilled(this.stored.next, this.stored.released);
    this.mark = highestOf(released, this.mark ?? released);
    this.stored = { next: this.stored.next, released };
  }
}

test('no index is shown twice, whatever is killed and restored, as long as the mark exists', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const world = new World();
      for (const taken of steps) world.happens(taken);
      expect(new Set(world.taken).size).toBe(world.taken.length);
      for (const index of world.taken) expect(index).toBeLessThan(world.mark?.orders ?? 0);
    }),
    { numRuns: propertyRuns(300) },
  );
});

describe('ends of branches', () => {
  const ends = (orders: number, own: number): BranchEnds => ({ orders, own, fees: own });

  test('are refilled if half of a range is used, each branch separately', () => {
    expect(refilled(ends(499, 0), ends(1000, 1000))).toEqual(ends(1000, 1000));
    expect(refilled(ends(500, 499), ends(1000, 1000))).toEqual(ends(2000, 1000));
    expect(refilled(ends(1000, 1000), ends(1000, 1000))).toEqual(ends(2000, 2000));
  });

  test('end where keys end', () => {
    expect(movedBy(ends(indexEnd - 5, 3), 10)).toEqual(ends(indexEnd, 13));
    expect(refilled(ends(indexEnd, 0), ends(indexEnd, 900))).toEqual(ends(indexEnd, 900));
  });

  test('are covered by ends that are lower for no branch', () => {
    expect(covers(ends(5, 5), ends(5, 4))).toBe(true);
    expect(covers(ends(5, 3), ends(5, 4))).toBe(false);
    expect(covers(ends(4, 9), ends(5, 4))).toBe(false);
  });
});

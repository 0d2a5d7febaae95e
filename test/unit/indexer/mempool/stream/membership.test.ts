import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Membership,
  type MembershipChange,
  type MembershipMessage,
  type MempoolSnapshot,
} from '#indexer/mempool/stream/membership.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const joined = (membership: Membership, snapshot: MempoolSnapshot): MembershipChange[] =>
  [...membership.join(snapshot)].flat();

/**
 * A node that behaves like Bitcoin Core. Every change of the mempool gets a number, including the changes by blocks,
 * which are not reported. A reorganisation reports the transactions that it adds again before the blocks that it
 * connects.
 */
class SimulatedNode {
  readonly members = new Set<string>();
  readonly stream: MembershipMessage[] = [];
  readonly chain: { hash: string; txids: string[] }[] = [];
  next = 1n;
  made = 0;

  add(txid = `t${this.made++}`): void {
    this.members.add(txid);
    this.stream.push({ kind: 'added', txid, sequence: this.next++ });
  }

  remove(which: number): string | null {
    const txid = [...this.members][which % Math.max(this.members.size, 1)];
    if (txid === undefined) return null;
    this.members.delete(txid);
    this.stream.push({ kind: 'removed', txid, sequence: this.next++ });
    return txid;
  }

  replace(which: number): void {
    if (this.remove(which) !== null) this.add();
  }

  mine(share: number): void {
    const txids = [...this.members].filter((_, index) => index % 4 < share);
    for (const txid of txids) {
      this.members.delete(txid);
      this.next++;
    }
    this.#connect(txids);
  }

  /** Disconnects blocks, and connects other blocks with some of the same transactions. */
  reorganise(depth: number, share: number): void {
    const back: string[] = [];
    for (let block = 0; block < depth; block++) {
      const taken = this.chain.pop();
      if (taken === undefined) break;
      this.stream.push({ kind: 'block-disconnected', hash: taken.hash });
      back.push(...taken.txids);
    }
    const mined = back.filter((_, index) => index % 4 < share);
    for (const txid of back) if (!mined.includes(txid)) this.add(txid);
    if (share > 0) this.#connect(mined);
  }

  snapshot(): { txids: string[]; sequence: bigint } {
    return { txids: [...this.members], sequence: this.next };
  }

  #connect(txids: string[]): void {
    const hash = `b${this.made++}`;
    this.chain.push({ hash, txids });
    this.stream.push({ kind: 'block-connected', hash, txids });
  }
}

type Step =
  | { readonly kind: 'add' | 'snapshot' | 'lose' }
  | { readonly kind: 'remove' | 'replace'; readonly which: number }
  | { readonly kind: 'mine'; readonly share: number }
  | { readonly kind: 'reorganise'; readonly depth: number; readonly share: number }
  | { readonly kind: 'deliver'; readonly count: number };

const which = fc.nat(50);
const share = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'add' } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('remove', 'replace'), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mine'), share }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('reorganise'), depth: fc.integer({ min: 1, max: 3 }), share }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('deliver'), count: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'snapshot' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose' } as const) },
) as fc.Arbitrary<Step>;

/** Keeps the set that follows from the reported changes, and the membership's own set. */
class Follower {
  readonly membership = new Membership();
  readonly told = new Set<string>();
  delivered = 0;

  deliver(node: SimulatedNode, count: number): void {
    for (const end = Math.min(node.stream.length, this.delivered + count); this.delivered < end; ) {
      this.#take(this.membership.tell(node.stream[this.delivered++]!));
    }
  }

  join(node: SimulatedNode): void {
    const { txids, sequence } = node.snapshot();
    this.#take(joined(this.membership, { txids: new Set(txids), sequence }));
  }

  lose(node: SimulatedNode): void {
    this.delivered = node.stream.length;
    this.membership.lose();
  }

  #take(changes: ReturnType<Membership['tell']>): void {
    for (const { kind, txid } of changes) {
      expect(this.told.has(txid)).toBe(kind !== 'entered');
      if (kind === 'entered') this.told.add(txid);
      else this.told.delete(txid);
    }
  }
}

describe('Membership', () => {
  test('equals the mempool once the stream is quiet, whatever was added, mined, taken back or lost', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const node = new SimulatedNode();
        const follower = new Follower();
        for (const one of steps) run(node, follower, one);
        // after a loss the set is undefined until the next snapshot, which may come while messages are still on their
        // way
        if (!follower.membership.isJoined) follower.join(node);
        follower.deliver(node, Number.POSITIVE_INFINITY);
        const sorted = (txids: Iterable<string>): string[] => [...txids].toSorted();
        expect(sorted(follower.membership.txids())).toEqual(sorted(node.members));
        expect(sorted(follower.told)).toEqual(sorted(node.members));
        expect(follower.membership.size).toBe(node.members.size);
        node.add();
        follower.deliver(node, 1);
        expect(follower.membership.missing).toBe(0);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('notices a silently lost message by the numbers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(), (steps, lost) => {
        const node = new SimulatedNode();
        const follower = new Follower();
        follower.join(node);
        for (const one of steps) if (one.kind !== 'lose') run(node, new Follower(), one);
        const changes = node.stream.filter(({ kind }) => kind === 'added' || kind === 'removed');
        fc.pre(changes.length > 0);
        node.stream.splice(node.stream.indexOf(changes[lost % changes.length]!), 1);
        node.add();
        // the set is wrong from here on, so messages are not compared
        for (const message of node.stream) follower.membership.tell(message);
        expect(follower.membership.missing).toBeGreaterThan(0);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is right when a block that was undone before the snapshot arrives after it', () => {
    const node = new SimulatedNode();
    const follower = new Follower();
    node.add('a');
    node.mine(4);
    node.reorganise(1, 0);
    follower.join(node);
    expect(follower.membership.has('a')).toBe(true);
    follower.deliver(node, Number.POSITIVE_INFINITY);
    expect(follower.membership.has('a')).toBe(true);
  });

  test('names the block of a mined transaction, and reports one that vanished between snapshots', () => {
    const membership = new Membership();
    expect(joined(membership, { txids: new Set(['a', 'b']), sequence: 3n })).toHaveLength(2);
    expect(membership.tell({ kind: 'block-connected', hash: 'B', txids: ['a', 'c'] })).toEqual([
      { kind: 'mined', txid: 'a', block: 'B' },
    ]);
    expect(joined(membership, { txids: new Set(['c']), sequence: 9n })).toEqual([
      { kind: 'vanished', txid: 'b' },
      { kind: 'entered', txid: 'c' },
    ]);
  });

  test('gives the changes of a large snapshot in pieces, and is joined after the last', () => {
    const membership = new Membership();
    const txids = new Set(Array.from({ length: 10_000 }, (_, index) => `${index}`));
    const sizes: number[] = [];
    for (const changes of membership.join({ txids, sequence: 3n })) {
      expect(membership.isJoined).toBe(false);
      sizes.push(changes.length);
    }
    expect(membership.isJoined).toBe(true);
    expect(sizes).toEqual([4000, 4000, 2000]);
    // there are also pauses if nothing changed, because the comparison takes as long
    expect([...membership.join({ txids, sequence: 3n })].length).toBeGreaterThanOrEqual(5);
  });

  test('takes nothing from the stream before a snapshot, or after a loss', () => {
    const membership = new Membership();
    expect(membership.tell({ kind: 'added', txid: 'a', sequence: 1n })).toEqual([]);
    expect(joined(membership, { txids: new Set(['a']), sequence: 2n })).toHaveLength(1);
    membership.lose();
    expect(membership.tell({ kind: 'removed', txid: 'a', sequence: 2n })).toEqual([]);
    expect(membership.isJoined).toBe(false);
    expect(membership.has('a')).toBe(true);
  });
});

function run(node: SimulatedNode, follower: Follower, one: Step): void {
  switch (one.kind) {
    case 'add':
      node.add();
      break;
    case 'remove':
      node.remove(one.which);
      break;
    case 'replace':
      node.replace(one.which);
      break;
    case 'mine':
      node.mine(one.share);
      break;
    case 'reorganise':
      node.reorganise(one.depth, one.share);
      break;
    case 'deliver':
      follower.deliver(node, one.count);
      break;
    case 'snapshot':
      follower.join(node);
      break;
    case 'lose':
      follower.lose(node);
      break;
    default:
      unreachable(one);
  }
}

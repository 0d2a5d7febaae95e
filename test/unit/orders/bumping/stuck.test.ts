import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { groupStuck, isStuck, type WaitingParent, wantedRate } from '#orders/bumping/stuck.ts';
import { standingOfEntry } from '#orders/sending/mempool-standing.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const limits = { count: 64, virtualBytes: 101_000 };

function waiting(id: string, more: Partial<WaitingParent> = {}): WaitingParent {
  return {
    id,
    orderId: `order of ${id}`,
    fee: 300n,
    virtualBytes: 300,
    output: {
      txid: trustedTxid(new Uint8Array(32)),
      vout: 1,
      value: 2000n,
      script: new Uint8Array(34),
      key: null,
    },
    owed: 0n,
    mempool: { effectiveRate: 1000n, cluster: { count: 1, virtualBytes: 300 } },
    commit: null,
    wantedRate: 5000n,
    ...more,
  };
}

const rich = (parents: readonly WaitingParent[]): ReadonlyMap<string, bigint> =>
  new Map(parents.map(({ orderId }) => [orderId, 20_000n]));
const idsOf = (groups: readonly (readonly WaitingParent[])[]): string[][] =>
  groups.map((members) => members.map(({ id }) => id));

describe('the wanted rate of a stuck transaction', () => {
  test.each([
    ['is the current rate if its customer asked for the estimate', 8000n, 8000n, 20_000n, 20_000n],
    ['or for more', 9000n, 8000n, 20_000n, 20_000n],
    ['rises with the fees if its customer chose to wait', 2000n, 8000n, 20_000n, 5000n],
    ['but not above the asked rate if they fell', 2000n, 8000n, 4000n, 1000n],
    ['is the asked rate without an estimate', 2000n, null, 20_000n, 2000n],
  ])('%s', (_, asked, then, now, expected) => {
    expect(wantedRate(asked, then, now)).toBe(expected);
  });

  test('is compared with the rate that it pays with its relatives', () => {
    const paying = (effectiveRate: bigint) => ({ effectiveRate, cluster: { count: 1, virtualBytes: 300 } });
    expect(isStuck({ mempool: paying(4499n), wantedRate: 5000n }, 100n)).toBe(true);
    expect(isStuck({ mempool: paying(4500n), wantedRate: 5000n }, 100n)).toBe(false);
  });

  test('must be enough for the mempool if it was dropped; otherwise its customer chose to wait', () => {
    expect(isStuck({ mempool: null, wantedRate: 5000n }, 5000n)).toBe(true);
    expect(isStuck({ mempool: null, wantedRate: 4999n }, 5000n)).toBe(false);
  });
});

describe('the node’s answer about a transaction in its mempool', () => {
  const entry = {
    vsize: 300,
    ancestorcount: 2,
    ancestorsize: 500,
    descendantcount: 2,
    descendantsize: 411,
    fees: { base: 0.000_003, ancestor: 0.000_004, descendant: 0.000_02 },
  };

  test('has, from Bitcoin Core 31, the rate of its chunk', () => {
    const core31 = { ...entry, chunkweight: 2444, fees: { ...entry.fees, chunk: 0.000_021 } };
    expect(standingOfEntry(core31).effectiveRate).toBe(3436n);
  });

  test('has, from older versions, the better rate of its ancestors and its descendants', () => {
    expect(standingOfEntry(entry)).toEqual({
      effectiveRate: 4866n,
      cluster: { count: 3, virtualBytes: 611 },
    });
    expect(standingOfEntry({ ...entry, fees: { ...entry.fees, descendant: 0 } }).effectiveRate).toBe(800n);
  });
});

describe('stuck transactions', () => {
  test('with the same wanted rate are bumped together', () => {
    const parents = ['a', 'b', 'c'].map((id) => waiting(id));
    expect(idsOf(groupStuck(parents, limits, rich(parents)))).toEqual([['a', 'b', 'c']]);
  });

  test('are bumped alone if dropped, with a customer’s money, or of a poor order', () => {
    const parents = [
      waiting('gone', { mempool: null }),
      waiting('owing', { owed: 400n }),
      waiting('poor'),
      waiting('other rate', { wantedRate: 3000n }),
      waiting('a'),
      waiting('b'),
    ];
    const budgets = new Map([...rich(parents), ['order of poor', 100n]]);
    expect(idsOf(groupStuck(parents, limits, budgets))).toEqual([
      ['gone'],
      ['owing'],
      ['poor'],
      ['other rate'],
      ['a', 'b'],
    ]);
  });

  test('of one unconfirmed commit are bumped together, as one cluster', () => {
    const commit = { id: 'commit', fee: 200n, virtualBytes: 200 };
    const mempool = { effectiveRate: 1000n, cluster: { count: 31, virtualBytes: 9200 } };
    const parents = Array.from({ length: 30 }, (_, index) =>
      waiting(`${index}`, { commit, mempool, orderId: 'one' }),
    );
    expect(groupStuck(parents, limits, rich(parents))).toHaveLength(1);
  });

  test('are each in one group, within the node’s limits of clusters', () => {
    const parent = fc.record({
      virtualBytes: fc.integer({ min: 150, max: 99_000 }),
      count: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(parent, { maxLength: 120 }), fc.constantFrom(25, 64), (given, count) => {
        const parents = given.map(({ virtualBytes, count: related }, index) =>
          waiting(`${index}`, {
            virtualBytes,
            fee: 0n,
            wantedRate: 100n,
            mempool: { effectiveRate: 0n, cluster: { count: related, virtualBytes } },
          }),
        );
        const groups = groupStuck(parents, { count, virtualBytes: 101_000 }, rich(parents));
        expect(idsOf(groups).flat().toSorted()).toEqual(parents.map(({ id }) => id).toSorted());
        for (const members of groups) {
          const related = members.reduce((sum, { mempool }) => sum + mempool!.cluster.count, 1);
          const bytes = members.reduce((sum, { virtualBytes }) => sum + virtualBytes, 0);
          // 58 virtual bytes for each input of the child, and 111 for the rest of the child
          const child = 58 * members.length + 111;
          if (members.length > 1) {
            expect(related).toBeLessThanOrEqual(count);
            expect(bytes + child).toBeLessThanOrEqual(101_000);
          }
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { ClusterRoom } from '#orders/sending/cluster-room.ts';
import {
  defaultClusterLimits,
  refundFeeRate,
  standingOf,
  urgentFeeRate,
} from '#orders/sending/node-standing.ts';

const core31 = {
  mempoolminfee: 0.000_001,
  minrelaytxfee: 0.000_001,
  incrementalrelayfee: 0.000_001,
  limitclustercount: 64,
  limitclustersize: 101_000,
};

describe('the policy of a node', () => {
  test('of Bitcoin Core 31: clusters, and a tenth of a sat for a byte', () => {
    expect(standingOf(core31, { feerate: 0.000_123_45, blocks: 6 })).toEqual({
      minRelayFeeRate: 100n,
      mempoolMinFeeRate: 100n,
      incrementalFeeRate: 100n,
      estimate: 12_345n,
      cluster: { count: 64, virtualBytes: 101_000 },
    });
  });

  test('of an older version, which reports no limits: those of its chains', () => {
    const { cluster, incrementalFeeRate } = standingOf(
      { mempoolminfee: 0.000_01, minrelaytxfee: 0.000_01 },
      {},
    );
    expect(cluster).toEqual(defaultClusterLimits);
    expect(incrementalFeeRate).toBe(1000n);
  });

  test('a full mempool takes nothing below its minimum, whatever the estimate is', () => {
    const full = { ...core31, mempoolminfee: 0.000_05 };
    expect(urgentFeeRate(standingOf(full, { feerate: 0.000_02 }))).toBe(5000n);
    expect(urgentFeeRate(standingOf(full, { errors: ['Insufficient data'] }))).toBe(5000n);
    expect(urgentFeeRate(standingOf(core31, { feerate: 0.000_02 }))).toBe(2000n);
  });

  test('refunds pay what every node relays', () => {
    expect(refundFeeRate(standingOf(core31, {}))).toBe(1000n);
  });

  test.each([null, 'busy', 7])('the answer %s is refused', (answer) => {
    expect(() => standingOf(answer, {})).toThrow('did not describe its mempool');
  });
});

describe('the room of an unconfirmed commit', () => {
  test('leaves a place for a transaction that pays for the others', () => {
    const room = new ClusterRoom({ count: 4, virtualBytes: 101_000 });
    for (const expected of [true, true, true, false]) {
      expect(room.has(1, 200)).toBe(expected);
      room.add(200);
    }
  });

  test('has room for a reveal and its burn, or for neither', () => {
    const room = new ClusterRoom({ count: 4, virtualBytes: 101_000 });
    room.add(200);
    room.add(200);
    expect([room.has(1, 200), room.has(2, 400)]).toEqual([true, false]);
  });

  test('is bounded by the size of the cluster', () => {
    const room = new ClusterRoom({ count: 64, virtualBytes: 101_000 });
    room.add(300);
    expect(room.has(1, 99_700)).toBe(true);
    expect(room.has(1, 99_701)).toBe(false);
  });
});

import { describe, expect, test } from 'vitest';
import { lagOf, type Standing } from '#http/operations/chain-lag.ts';
import { followerState, indexerSilenceMaxSeconds, unreadyReasons } from '#http/operations/readiness.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

const hash = asBlockHash(new Uint8Array(32));
const now = new Date('2026-11-21T12:00:00Z');
const nowSeconds = now.getTime() / 1000;

interface Given {
  readonly height?: Height | null;
  readonly source?: Height | null;
  readonly status?: Partial<FollowerStatus> | null;
  readonly ageSeconds?: number;
  readonly hasWriter?: boolean;
}

function standing({
  height = asHeight(10),
  source = asHeight(10),
  status = {},
  ageSeconds = 1,
  hasWriter = true,
}: Given): Standing {
  const tip = height === null ? null : { height, hash, undoEpoch: 0 };
  const said: FollowerStatus | null =
    status === null
      ? null
      : {
          state: 'following',
          source: 'node http://127.0.0.1:8332',
          sourceTip: source === null ? null : { height: source, hash },
          problem: null,
          updatedAt: new Date(now.getTime() - ageSeconds * 1000),
          ...status,
        };
  const report = {
    status: said,
    ageSeconds: said === null ? null : ageSeconds,
    tipTime: height === null ? null : nowSeconds - 900,
    hasWriter,
    now,
  };
  return { ...report, tip, lag: lagOf(tip, report), behind: [] };
}

const codes = (given: Given, lagMaxBlocks = 3): string[] =>
  unreadyReasons(standing(given), [], { lagMaxBlocks }).map(({ code }) => code);

describe('a process is ready', () => {
  test('at the tip of its source, and a few blocks below', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ source: asHeight(13) })).toEqual([]);
  });

  test('above the tip of a source, which a reorganisation may be about to shorten', () => {
    expect(codes({ source: asHeight(8) })).toEqual([]);
  });

  test('with a completely indexed folder, after any time', () => {
    const status = { source: 'folder ./samples/regtest', state: 'ended' as const };
    expect(codes({ status, ageSeconds: 1e6 })).toEqual([]);
  });
});

describe('a process is not ready', () => {
  test('more blocks behind than the bound', () => {
    expect(codes({ source: asHeight(14) })).toEqual(['index_behind']);
    expect(codes({ source: asHeight(11) }, 0)).toEqual(['index_behind']);
    const [reason] = unreadyReasons(standing({ source: asHeight(14) }), [], { lagMaxBlocks: 3 });
    expect(reason?.message).toBe('The index is 4 blocks behind node http://127.0.0.1:8332, at height 10.');
  });

  test('with nothing indexed', () => {
    expect(codes({ height: null, source: asHeight(5) })).toEqual(['nothing_indexed']);
  });

  test('when the indexing process has ended, or never existed', () => {
    expect(codes({ ageSeconds: indexerSilenceMaxSeconds })).toEqual([]);
    expect(codes({ ageSeconds: indexerSilenceMaxSeconds + 1 })).toEqual(['indexer_gone']);
    expect(codes({ status: { state: 'ended' } })).toEqual(['indexer_gone']);
    expect(codes({ status: null })).toEqual(['indexer_gone']);
  });

  test('immediately when the indexing process crashes: its lock ends with its connection', () => {
    for (const state of ['syncing', 'following'] as const) {
      const crashed = { status: { state }, hasWriter: false, ageSeconds: 0 };
      expect(codes(crashed)).toEqual(['indexer_gone']);
      expect(followerState(standing(crashed))).toBe('gone');
    }
    // a process that waits for its node or database does not hold the lock, but reports every few seconds that it waits
    const problem = { code: 'node_unreachable' as const, message: 'No answer.', since: now };
    const waiting = { status: { state: 'waiting' as const, problem }, hasWriter: false };
    expect(codes(waiting)).toEqual(['node_unreachable']);
    expect(codes({ ...waiting, ageSeconds: 11 })).toEqual(['node_unreachable', 'indexer_gone']);
    // an index of a folder is complete, so it needs no process
    const ended = { status: { source: 'folder ./x', state: 'ended' as const }, hasWriter: false };
    expect(codes(ended)).toEqual([]);
    expect(followerState(standing(ended))).toBe('ended');
  });

  test('while the follower has a problem, with the time of its start', () => {
    const problem = { code: 'node_unreachable' as const, message: 'No answer.', since: now };
    const [reason, ...more] = unreadyReasons(standing({ status: { state: 'waiting', problem } }), [], {
      lagMaxBlocks: 3,
    });
    expect(reason).toEqual(problem);
    expect(more).toEqual([]);
  });

  test('with a problem of its own, which is listed once', () => {
    const problem = { code: 'block_corrupt' as const, message: 'Block 7 is corrupt.', since: now };
    expect(
      unreadyReasons(standing({ status: { problem } }), [problem], { lagMaxBlocks: 3 }).map(
        ({ code }) => code,
      ),
    ).toEqual(['block_corrupt']);
  });
});

describe('the lag', () => {
  test('is the age of the tip while there are newer blocks, and 0 at the tip', () => {
    expect(standing({ source: asHeight(12) }).lag).toEqual({ blocks: 2, seconds: 900 });
    expect(standing({}).lag).toEqual({ blocks: 0, seconds: 0 });
    expect(standing({ height: null, source: asHeight(4) }).lag).toEqual({ blocks: 5, seconds: 0 });
  });

  test('is unknown if the tip of the source is', () => {
    expect(standing({ source: null }).lag).toBeNull();
    expect(standing({ status: null }).lag).toBeNull();
  });
});

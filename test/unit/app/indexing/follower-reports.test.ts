import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { followerReports } from '#src/app/indexing/follower-reports.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a load that resumes after an interruption reports its own speed and time, not those of the process', () => {
  const lines: unknown[] = [];
  const log = {
    info: (fields: { readonly megabytesPerSecond?: number; readonly secondsLeft?: number | null }) => {
      const { megabytesPerSecond, secondsLeft } = fields;
      if (megabytesPerSecond !== undefined) lines.push([megabytesPerSecond, secondsLeft]);
    },
  };
  const context = { logger: { child: () => log } } as unknown as CommandContext;
  const reports = followerReports(context, null, null, () => null);
  const become = (state: FollowerStatus['state']): void =>
    reports.onStatus?.({ state } as unknown as FollowerStatus);
  const reach = (megabytes: number): void => {
    const bytes = megabytes * 1e6;
    const blocks = { blocks: megabytes, blocksTotal: 1000 };
    reports.onProgress?.({ ...blocks, bytes, bytesLeft: 1e9 - bytes, inscriptions: 0 });
  };
  become('syncing');
  reach(0);
  vi.advanceTimersByTime(10_000);
  reach(400);
  become('waiting');
  vi.advanceTimersByTime(60_000);
  become('syncing');
  reach(500);
  vi.advanceTimersByTime(5000);
  reach(600);
  reports.finish();
  expect(lines).toEqual([
    [0, null],
    [40, 15],
    [0, null],
    [20, 20],
  ]);
});

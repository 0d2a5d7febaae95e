import { describe, expect, test } from 'vitest';
import {
  createProgress,
  type ProgressFields,
  type ProgressState,
  progressParts,
} from '#src/app/reports/progress.ts';

const state = {
  blocks: 3,
  blocksTotal: 12,
  bytes: 6_000_000,
  bytesLeft: 18_000_000,
  inscriptions: 12_345,
  bound: null,
};

function progressText(shown: ProgressState, seconds: number): string {
  return progressParts(shown, seconds, { blocks: 0, bytes: 0 }).join(', ');
}

describe('the text of progress', () => {
  test('shows blocks, speed, the time that is left, and inscriptions', () => {
    expect(progressText(state, 2)).toBe('3/12 blocks, 3.0 MB/s, 6 s left, 12,345 inscriptions');
  });

  test('shows the time that it took at the end', () => {
    expect(progressText({ ...state, blocks: 12 }, 3725)).toBe(
      '12/12 blocks, 0.0 MB/s, 1 h 2 min taken, 12,345 inscriptions',
    );
  });

  test('says nothing of what is left before the first block', () => {
    expect(progressText({ ...state, blocks: 0, bytes: 0 }, 0)).toBe(
      '0/12 blocks, 0.0 MB/s, 12,345 inscriptions',
    );
  });
});

describe('the text of progress over blocks of different sizes', () => {
  const sized = { ...state, blocks: 9, bytes: 2_000_000 };

  test('tells the time left by bytes, and what bounds the speed', () => {
    expect(progressText({ ...sized, bytesLeft: 6_000_000, bound: 'ledger' }, 2)).toBe(
      '9/12 blocks, 1.0 MB/s, 6 s left, bound by ledger, 12,345 inscriptions',
    );
  });

  test('tells no time where the size of the coming blocks is unknown', () => {
    expect(progressText({ ...sized, bytesLeft: null }, 2)).toBe('9/12 blocks, 1.0 MB/s, 12,345 inscriptions');
  });

  test('tells the time by blocks where the work is even over them', () => {
    const { bytesLeft, ...even } = sized;
    expect(bytesLeft).toBe(18_000_000);
    expect(progressText(even, 9)).toBe('9/12 blocks, 0.2 MB/s, 3 s left, 12,345 inscriptions');
  });
});

describe('progress', () => {
  const record = (
    isTTY: boolean,
  ): {
    text: string[];
    logged: ProgressFields[];
    clock: { ms: number };
    progress: ReturnType<typeof createProgress>;
  } => {
    const text: string[] = [];
    const logged: ProgressFields[] = [];
    const clock = { ms: 0 };
    const output = { isTTY, columns: 60, write: (part: string) => text.push(part) };
    const progress = createProgress(
      output,
      () => clock.ms,
      (fields) => logged.push(fields),
    );
    return { text, logged, clock, progress };
  };

  test('is a few lines of the log where there is no terminal', () => {
    const { text, logged, clock, progress } = record(false);
    const at = (blocks: number): typeof state => ({
      ...state,
      blocks,
      bytes: blocks * 1e6,
      bytesLeft: (12 - blocks) * 1e6,
    });
    for (let blocks = 1; blocks <= 12; blocks++) {
      clock.ms = blocks * 1000;
      progress.update(at(blocks));
    }
    progress.finish();
    expect(logged.map(({ blocks, secondsLeft }) => [blocks, secondsLeft])).toEqual([
      [1, 11],
      [6, 6],
      [11, 1],
      [12, 0],
    ]);
    expect(logged[1]).toEqual({ ...at(6), megabytesPerSecond: 1, seconds: 6, secondsLeft: 6 });
    expect(text).toEqual([]);
  });

  test('draws one line over and over on a terminal, never wider than it', () => {
    const { text, clock, progress } = record(true);
    for (let blocks = 1; blocks <= 12; blocks++) {
      clock.ms = blocks * 1000;
      progress.update({ ...state, blocks });
    }
    progress.finish();
    expect(text.at(-1)).toBe('\n');
    for (const line of text.slice(0, -1)) {
      expect(line.startsWith('\r\u001b[2K')).toBe(true);
      expect(line.length - '\r\u001b[2K'.length).toBeLessThan(60);
    }
  });

  test.each([
    [60, '███░░░░░░░░░░ 61234/157430 blocks, 40 MB/s, 2 h 15 min left'],
    [80, '████░░░░░░░░░░ 61234/157430 blocks, 40 MB/s, 2 h 15 min left, bound by database'],
    [
      120,
      '███████░░░░░░░░░░░░░░░░░░░░░ 61234/157430 blocks, 40 MB/s, 2 h 15 min left, bound by database, 45,678,901 inscriptions',
    ],
  ])('on %i columns shows what matters most, and a bar in the room that is left', (columns, line) => {
    const text: string[] = [];
    const clock = { ms: 0 };
    const output = { isTTY: true, columns, write: (part: string) => text.push(part) };
    const progress = createProgress(
      output,
      () => clock.ms,
      () => undefined,
    );
    clock.ms = 2_725_000;
    progress.update({
      blocks: 61_234,
      blocksTotal: 157_430,
      bytes: 109_000_000_000,
      bytesLeft: 326_000_000_000,
      inscriptions: 45_678_901,
      bound: 'database',
    });
    expect(text).toEqual([`\r\u001b[2K${line}`]);
  });

  test('shows nothing where there was nothing to do', () => {
    const { text, progress } = record(true);
    progress.finish();
    expect(text).toEqual([]);
  });
});

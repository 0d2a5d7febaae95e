import { describe, expect, test } from 'vitest';
import { createProgress, type ProgressFields, progressText } from '#src/app/reports/progress.ts';

const state = { blocks: 3, blocksTotal: 12, bytes: 6_000_000, inscriptions: 12_345 };

describe('progressText', () => {
  test('shows blocks, speed, inscriptions and the time that is left', () => {
    expect(progressText(state, 2)).toBe('3/12 blocks, 3.0 MB/s, 12,345 inscriptions, 6 s left');
  });

  test('shows the time that it took at the end', () => {
    expect(progressText({ ...state, blocks: 12 }, 3725)).toBe(
      '12/12 blocks, 0.0 MB/s, 12,345 inscriptions, 1 h 2 min taken',
    );
  });

  test('says nothing of what is left before the first block', () => {
    expect(progressText({ ...state, blocks: 0, bytes: 0 }, 0)).toBe(
      '0/12 blocks, 0.0 MB/s, 12,345 inscriptions',
    );
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
    for (let blocks = 1; blocks <= 12; blocks++) {
      clock.ms = blocks * 1000;
      progress.update({ ...state, blocks });
    }
    progress.finish();
    expect(logged.map(({ blocks, secondsLeft }) => [blocks, secondsLeft])).toEqual([
      [1, 11],
      [6, 6],
      [11, 1],
      [12, 0],
    ]);
    expect(logged[1]).toEqual({ ...state, blocks: 6, megabytesPerSecond: 1, seconds: 6, secondsLeft: 6 });
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

  test('shows nothing where there was nothing to do', () => {
    const { text, progress } = record(true);
    progress.finish();
    expect(text).toEqual([]);
  });
});

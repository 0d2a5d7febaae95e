import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { type RetryClass } from '#kernel/errors/error-code-entry.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { Patience, type PatienceOptions, retryAfterSeconds, retryClassOf } from '#kernel/retry.ts';

const failed = (code: ErrorCode): AppError => new AppError(code, 'it failed');
const codes = Object.keys(errorCodes) as ErrorCode[];
const ofClass = (wanted: RetryClass): ErrorCode[] =>
  codes.filter((code) => retryClassOf(code, { hasCookieFile: true }) === wanted);
/** Options of a service that follows a node and has data to serve. */
const serving: PatienceOptions = {
  firstPauseMs: 200,
  pauseMaxMs: 10_000,
  hasCookieFile: true,
  waitsForPeople: true,
};

function delays(options: PatienceOptions, code: ErrorCode, count: number): (number | null)[] {
  const patience = new Patience(options);
  return Array.from({ length: count }, () => patience.delayAfter(failed(code)));
}

describe('the reaction to each class of failure', () => {
  test.each(ofClass('never'))('never: %s', (code) => {
    expect(delays(serving, code, 2)).toEqual([null, null]);
    expect(retryAfterSeconds(code)).toBeNull();
  });

  test.each([...ofClass('soon'), ...ofClass('replan'), ...ofClass('always')])(
    'soon, for as long as it lasts: %s',
    (code) => {
      for (const [attempt, delay] of delays(serving, code, 40).entries()) {
        const most = Math.min(10_000, 200 * 2 ** attempt);
        expect(delay).toBeLessThanOrEqual(most);
        expect(delay).toBeGreaterThanOrEqual(most / 2);
      }
      expect(retryAfterSeconds(code)).toBe(2);
    },
  );

  test.each(ofClass('few'))('five times, then once a minute: %s', (code) => {
    const [first, second] = [delays(serving, code, 50).slice(0, 5), delays(serving, code, 50).slice(5)];
    expect(Math.max(...(first as number[]))).toBeLessThan(10_000);
    expect(new Set(second)).toEqual(new Set([60_000]));
    // a command does not retry for ever, because a person waits for its end and needs the error
    expect(delays({ ...serving, waitsForPeople: false }, code, 6).map((delay) => delay === null)).toEqual([
      ...Array<boolean>(5).fill(false),
      true,
    ]);
    expect(retryAfterSeconds(code)).toBe(60);
  });

  test.each(ofClass('minute'))('once a minute: %s', (code) => {
    expect(new Set(delays(serving, code, 20))).toEqual(new Set([60_000]));
    expect(delays({ ...serving, waitsForPeople: false }, code, 1)).toEqual([null]);
    expect(retryAfterSeconds(code)).toBe(60);
  });
});

describe('the place of a failure', () => {
  test('a bad block of a node is requested again, one of a folder is not', () => {
    const blocks = codes.filter((code) => code.startsWith('block_') || code === 'spent_outputs_mismatch');
    expect(blocks).toHaveLength(6);
    for (const code of blocks) {
      expect(delays({ ...serving, isFolder: true }, code, 1), code).toEqual([null]);
      expect(delays(serving, code, 1), code).not.toEqual([null]);
    }
  });

  test('a node that refuses us is asked again only if it writes its cookie again', () => {
    expect(delays(serving, 'node_refused', 2)).toEqual([60_000, 60_000]);
    expect(delays({ ...serving, hasCookieFile: false }, 'node_refused', 1)).toEqual([null]);
  });
});

test('waits within its budget, but without an end for a full disk that people clear', () => {
  const brief = { ...serving, budgetMs: 0 };
  expect(delays(brief, 'postgres_lost', 1)).toEqual([null]);
  expect(delays(brief, 'disk_full', 1)).not.toEqual([null]);
  expect(delays({ ...serving, budgetMs: 60_000 }, 'postgres_lost', 1)).not.toEqual([null]);
});

test('restarts its count after a success', () => {
  const patience = new Patience({ firstPauseMs: 100, pauseMaxMs: 350, random: () => 0 });
  const next = (): number | null => patience.delayAfter(failed('node_unreachable'));
  expect([next(), next(), next(), next()]).toEqual([50, 100, 175, 175]);
  patience.reset();
  expect(next()).toBe(50);
  for (let failure = 0; failure < 2000; failure++) expect(next()).toBeLessThanOrEqual(175);
});

test('never tries again after a broken invariant', () => {
  expect(new Patience(serving).delayAfter(new Error('assertion'))).toBeNull();
});

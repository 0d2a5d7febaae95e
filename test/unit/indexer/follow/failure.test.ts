import { describe, expect, test } from 'vitest';
import { operatingFailure, Retry } from '#indexer/follow/failure.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

const failed = (code: ErrorCode): AppError => new AppError(code, 'it failed');
const thrown = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

describe('what was thrown', () => {
  test.each([
    [thrown('could not extend file', '53100'), 'disk_full'],
    [thrown('no space left on device, write', 'ENOSPC'), 'disk_full'],
    [thrown('sorry, too many clients already', '53300'), 'postgres_unreachable'],
    [thrown('timeout exceeded when trying to connect'), 'postgres_unreachable'],
    [thrown('Connection terminated unexpectedly'), 'postgres_lost'],
    [thrown('terminating connection', '57P01'), 'postgres_lost'],
    [thrown('connect ECONNREFUSED', 'ECONNREFUSED'), 'postgres_lost'],
  ])('%s is %s', (error, code) => {
    expect(operatingFailure(error)).toMatchObject({ code, cause: error });
  });

  test('stays what it is where it is no failure of operation', () => {
    const error = thrown('a location that ends is not there', 'ERR_ASSERTION');
    expect(operatingFailure(error)).toBe(error);
    expect(operatingFailure('text')).toBe('text');
  });
});

describe('a retry', () => {
  test('doubles its delays up to ten seconds, spread, and begins anew after a success', () => {
    const retry = new Retry(true, Number.POSITIVE_INFINITY);
    for (let attempt = 0; attempt < 40; attempt++) {
      const delay = retry.delayAfter(failed('node_unreachable'))!;
      const most = Math.min(10_000, 200 * 2 ** attempt);
      expect(delay).toBeLessThanOrEqual(most);
      expect(delay).toBeGreaterThanOrEqual(most / 2);
    }
    retry.reset();
    expect(retry.delayAfter(failed('postgres_lost'))).toBeLessThanOrEqual(200);
  });

  test('gives up on what waiting cannot help', () => {
    const retry = new Retry(true, Number.POSITIVE_INFINITY);
    for (const code of ['node_refused', 'node_pruned', 'network_mismatch', 'rules_changed'] as const) {
      expect(retry.delayAfter(failed(code))).toBeNull();
    }
    expect(retry.delayAfter(new Error('assertion'))).toBeNull();
  });

  test('reads a wrong block of a node five times more, and one of a folder not at all', () => {
    const retry = new Retry(true, Number.POSITIVE_INFINITY);
    const delays = Array.from({ length: 6 }, () => retry.delayAfter(failed('block_corrupt')));
    expect(delays.filter((delay) => delay !== null)).toHaveLength(5);
    expect(delays.at(-1)).toBeNull();
    expect(new Retry(false, 60_000).delayAfter(failed('block_corrupt'))).toBeNull();
    expect(new Retry(false, 60_000).delayAfter(failed('node_unreachable'))).toBeNull();
  });

  test('keeps to its budget, but for a disk that people make room on', () => {
    const retry = new Retry(false, 0);
    expect(retry.delayAfter(failed('postgres_lost'))).toBeNull();
    expect(retry.delayAfter(failed('disk_full'))).not.toBeNull();
    expect(new Retry(false, 60_000).delayAfter(failed('postgres_lost'))).not.toBeNull();
  });
});

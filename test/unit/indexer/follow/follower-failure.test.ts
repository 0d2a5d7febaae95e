import { describe, expect, test } from 'vitest';
import { isOfDatabase, Patience, type PatienceOptions } from '#indexer/follow/follower-failure.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';

const failed = (code: ErrorCode): AppError => new AppError(code, 'it failed');
const patient = (options: Partial<PatienceOptions> = {}): Patience =>
  new Patience({ isLive: true, budgetMs: Number.POSITIVE_INFINITY, waitsForPeople: false, ...options });

describe('the patience of a follower', () => {
  test('doubles its delays up to ten seconds, spread, and begins anew after a success', () => {
    const retry = patient();
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
    const retry = patient();
    const final = [
      'node_refused',
      'network_mismatch',
      'rules_changed',
      'postgres_refused',
      'postgres_damaged',
    ] as const;
    for (const code of final) {
      expect(retry.delayAfter(failed(code))).toBeNull();
    }
    expect(retry.delayAfter(new Error('assertion'))).toBeNull();
  });

  test('reads a wrong block of a node five times more, and one of a folder not at all', () => {
    const retry = patient();
    const delays = Array.from({ length: 6 }, () => retry.delayAfter(failed('block_corrupt')));
    expect(delays.filter((delay) => delay !== null)).toHaveLength(5);
    expect(delays.at(-1)).toBeNull();
    expect(patient({ isLive: false, budgetMs: 60_000 }).delayAfter(failed('block_corrupt'))).toBeNull();
    expect(patient({ isLive: false, budgetMs: 60_000 }).delayAfter(failed('node_unreachable'))).toBeNull();
  });

  test('keeps to its budget, but for a disk that people make room on', () => {
    const retry = patient({ isLive: false, budgetMs: 0 });
    expect(retry.delayAfter(failed('postgres_lost'))).toBeNull();
    expect(retry.delayAfter(failed('disk_full'))).not.toBeNull();
    expect(patient({ isLive: false, budgetMs: 60_000 }).delayAfter(failed('postgres_lost'))).not.toBeNull();
  });

  test('asks a node that somebody has to mend once a minute, where it serves on meanwhile', () => {
    const serving = patient({ waitsForPeople: true });
    for (let attempt = 0; attempt < 50; attempt++) {
      expect(serving.delayAfter(failed('node_pruned'))).toBe(60_000);
    }
    serving.reset();
    const delays = Array.from({ length: 50 }, () => serving.delayAfter(failed('block_corrupt')));
    expect(delays.filter((delay) => delay === 60_000)).toHaveLength(45);
    expect(Math.max(...(delays.slice(0, 5) as number[]))).toBeLessThan(10_000);
    expect(serving.delayAfter(failed('node_refused'))).toBeNull();
    // whoever waits for the end of a command learns it
    expect(patient().delayAfter(failed('node_pruned'))).toBeNull();
    expect(patient({ isLive: false, waitsForPeople: true }).delayAfter(failed('block_corrupt'))).toBeNull();
  });

  test.each([
    'postgres_lost',
    'postgres_unreachable',
    'postgres_exhausted',
    'postgres_conflict',
    'postgres_read_only',
    'postgres_timeout',
    'disk_full',
  ] as const)('waits for a Postgres that may answer again: %s', (code) => {
    const patience = patient();
    for (let attempt = 0; attempt < 50; attempt++) expect(patience.delayAfter(failed(code))).not.toBeNull();
    expect(isOfDatabase(failed(code))).toBe(true);
  });
});

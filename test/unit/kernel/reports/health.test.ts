import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { createHealth } from '#kernel/reports/health.ts';

describe('the health of a process', () => {
  const at = (second: number): Date => new Date(1_800_000_000_000 + second * 1000);

  test('has the problems of its parts, in the order in which they began, until they work again', () => {
    let second = 0;
    const health = createHealth(() => at(second++));
    health.report('node', new AppError('node_unreachable', 'No answer.'));
    health.report('postgres', new AppError('postgres_lost', 'Gone.'));
    expect(health.problems()).toEqual([
      { code: 'node_unreachable', message: 'No answer.', since: at(0) },
      { code: 'postgres_lost', message: 'Gone.', since: at(1) },
    ]);
    health.report('node', null);
    expect(health.problems().map(({ code }) => code)).toEqual(['postgres_lost']);
  });

  test('keeps parts that do less than usual apart, because the process stays ready', () => {
    const health = createHealth(() => at(3));
    health.reportDegraded('payments', new AppError('restored_on_hold', 'Payments wait.'));
    expect(health.problems()).toEqual([]);
    expect(health.degraded()).toEqual([
      { code: 'restored_on_hold', message: 'Payments wait.', since: at(3) },
    ]);
    health.report('payments', null);
    expect(health.degraded()).toHaveLength(1);
    health.reportDegraded('payments', null);
    expect(health.degraded()).toEqual([]);
  });

  test('keeps the time since when the same problem lasts, and restarts it for another problem', () => {
    let second = 0;
    const health = createHealth(() => at(second));
    health.report('node', new AppError('node_unreachable', 'first'));
    second = 5;
    health.report('node', new AppError('node_unreachable', 'second'));
    expect(health.problems()).toEqual([{ code: 'node_unreachable', message: 'second', since: at(0) }]);
    health.report('node', new AppError('node_warming_up', 'third'));
    expect(health.problems()).toEqual([{ code: 'node_warming_up', message: 'third', since: at(5) }]);
  });
});

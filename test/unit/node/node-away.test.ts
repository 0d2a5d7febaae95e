import { expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { NodeAway } from '#node/node-away.ts';

function watched() {
  const told: string[] = [];
  let now = 0;
  const away = new NodeAway(
    { onAway: ({ code }) => told.push(code), onBack: (seconds) => told.push(`back after ${seconds} s`) },
    () => now,
  );
  const failsAt = (ms: number, code: ErrorCode): void => {
    now = ms;
    away.result(new AppError(code, 'x'));
  };
  const answersAt = (ms: number): void => {
    now = ms;
    away.result(null);
  };
  return { told, failsAt, answersAt };
}

test('an outage is told once, again with another reason, and once when it is over', () => {
  const { told, failsAt, answersAt } = watched();
  for (const ms of [0, 500, 1000, 1500, 100_000]) failsAt(ms, 'node_unreachable');
  expect(told).toEqual(['node_unreachable']);
  failsAt(101_000, 'node_warming_up');
  failsAt(102_000, 'node_warming_up');
  answersAt(103_000);
  answersAt(104_000);
  expect(told).toEqual(['node_unreachable', 'node_warming_up', 'back after 103 s']);
});

test('a call that fails alone is no outage', () => {
  const { told, failsAt, answersAt } = watched();
  for (let ms = 0; ms < 10_000; ms += 1000) {
    failsAt(ms, 'node_unreachable');
    answersAt(ms + 1);
  }
  expect(told).toEqual([]);
});

test('a refused call is an answer', () => {
  const { told, failsAt } = watched();
  failsAt(0, 'node_unreachable');
  failsAt(2000, 'node_unreachable');
  failsAt(3000, 'node_call_failed');
  expect(told).toEqual(['node_unreachable', 'back after 3 s']);
});

import { expect, test } from 'vitest';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';

interface Made {
  readonly end: (value: number) => void;
  readonly fail: (error: Error) => void;
}

function sharing(): { readonly shared: SharedMaking<number>; readonly made: Made[] } {
  const made: Made[] = [];
  const shared = new SharedMaking(() => new Promise<number>((end, fail) => made.push({ end, fail })));
  return { shared, made };
}

test('callers during one making share the next one, which begins after it', async () => {
  const { shared, made } = sharing();
  const first = shared.get();
  const others = Array.from({ length: 100 }, () => shared.get());
  expect(made).toHaveLength(1);
  made[0]!.end(1);
  expect(await first).toBe(1);
  expect(made).toHaveLength(2);
  made[1]!.end(2);
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
  const later = shared.get();
  expect(made).toHaveLength(3);
  made[2]!.end(3);
  expect(await later).toBe(3);
});

test('a failure concerns only its own callers', async () => {
  const { shared, made } = sharing();
  const first = shared.get();
  const second = shared.get();
  made[0]!.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  made[1]!.end(2);
  expect(await second).toBe(2);
});

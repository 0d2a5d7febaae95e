import { expect, test, vi } from 'vitest';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';

interface Made {
  readonly signal: AbortSignal;
  readonly end: (value: number) => void;
  readonly fail: (error: Error) => void;
}

function sharing(): { shared: SharedMaking<number>; made: Made[]; runs: (count: number) => Promise<void> } {
  const made: Made[] = [];
  const shared = new SharedMaking(
    (signal) => new Promise<number>((end, fail) => made.push({ signal, end, fail })),
  );
  const runs = (count: number): Promise<void> => vi.waitFor(() => expect(made).toHaveLength(count));
  return { shared, made, runs };
}

test('callers during one making share the next one, which begins after it', async () => {
  const { shared, made, runs } = sharing();
  const first = shared.get(null);
  await runs(1);
  const others = Array.from({ length: 100 }, () => shared.get(null));
  made[0]!.end(1);
  expect(await first).toBe(1);
  await runs(2);
  made[1]!.end(2);
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
  const later = shared.get(null);
  await runs(3);
  made[2]!.end(3);
  expect(await later).toBe(3);
});

test('a caller that leaves does not wait any more, and the others get their value', async () => {
  const { shared, made, runs } = sharing();
  const leaving = new AbortController();
  const first = shared.get(leaving.signal);
  await runs(1);
  const left = [shared.get(leaving.signal), shared.get(leaving.signal)];
  const stayed = shared.get(new AbortController().signal);
  leaving.abort(new Error('the client left'));
  for (const each of [first, ...left, shared.get(leaving.signal)])
    await expect(each).rejects.toThrow('the client left');
  made[0]!.end(1);
  await runs(2);
  made[1]!.end(2);
  expect(await stayed).toBe(2);
});

test('a run ends when all its callers have left, and not before', async () => {
  const { shared, made, runs } = sharing();
  const [one, other] = [new AbortController(), new AbortController()];
  // a caller may wait twice
  const asked = Promise.allSettled([one, one, other].map(({ signal }) => shared.get(signal)));
  await runs(1);
  one.abort(new Error('gone'));
  expect(made[0]!.signal.aborted).toBe(false);
  other.abort(new Error('gone too'));
  expect(made[0]!.signal.aborted).toBe(true);
  await asked;
  const later = shared.get(null);
  made[0]!.fail(new Error('cut'));
  await runs(2);
  made[1]!.end(2);
  expect(await later).toBe(2);
});

test('a run continues for a caller that never leaves', async () => {
  const { shared, made, runs } = sharing();
  const leaving = new AbortController();
  const asked = Promise.allSettled([shared.get(leaving.signal), shared.get(null), shared.get(null)]);
  await runs(1);
  leaving.abort(new Error('gone'));
  expect(made[0]!.signal.aborted).toBe(false);
  made[0]!.end(1);
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('a failure concerns only its own callers', async () => {
  const { shared, made, runs } = sharing();
  const first = shared.get(null);
  await runs(1);
  const second = shared.get(null);
  made[0]!.fail(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  await runs(2);
  made[1]!.end(2);
  expect(await second).toBe(2);
});

import { describe, expect, test } from 'vitest';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';

const none = new AbortController().signal;

describe('the activity of a writer', () => {
  test('is waited for, and only for as long as the caller says', async () => {
    const activity = new WriterActivity();
    const { promise, resolve } = Promise.withResolvers<void>();
    await activity.idle(none);
    const work = activity.during(() => promise);
    await activity.idle(none, 1);
    expect(activity.isBusy).toBe(true);
    const idle = activity.idle(none);
    resolve();
    await Promise.all([work, idle]);
    expect(activity.isBusy).toBe(false);
  });

  test('is waited for until it begins, and only for as long as the caller says', async () => {
    const activity = new WriterActivity();
    await activity.begun(none, 1);
    const begun = activity.begun(none, Number.POSITIVE_INFINITY);
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = activity.during(() => promise);
    await begun;
    expect(activity.isBusy).toBe(true);
    resolve();
    await work;
    await expect(activity.begun(AbortSignal.abort(), 1)).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('ends a wait on a signal', async () => {
    const activity = new WriterActivity();
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = activity.during(() => promise);
    const controller = new AbortController();
    const idle = activity.idle(controller.signal);
    controller.abort();
    await expect(idle).rejects.toMatchObject({ name: 'AbortError' });
    resolve();
    await work;
  });
});

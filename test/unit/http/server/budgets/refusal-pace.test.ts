import { expect, test, vi } from 'vitest';
import { RefusalPace } from '#http/server/budgets/refusal-pace.ts';
import { testAsker } from '#test/support/http/asker.ts';

test('a client that ignores refusals waits for them, and other clients do not', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  try {
    const pace = new RefusalPace();
    const controller = new AbortController();
    let answered = 0;
    const refuse = async (client: string, signal?: AbortSignal): Promise<void> => {
      await pace.wait(testAsker(client, signal));
      answered++;
    };
    const all = Array.from({ length: 30 }, () => refuse('hasty'));
    const gone = refuse('hasty', controller.signal);
    await refuse('calm');
    expect(answered).toBe(21);
    // a disconnected client does not wait
    controller.abort();
    await gone;
    expect(answered).toBe(22);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(all);
    expect(answered).toBe(32);
    // a new second starts a new count
    await refuse('hasty');
    expect(answered).toBe(33);
  } finally {
    vi.useRealTimers();
  }
});

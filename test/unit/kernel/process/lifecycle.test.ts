import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLifecycle } from '#kernel/process/lifecycle.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a lifecycle', () => {
  test('stops its parts in the reverse order, each after the one before it has stopped', async () => {
    const lifecycle = createLifecycle();
    const order: string[] = [];
    for (const name of ['database', 'index', 'http']) {
      lifecycle.add(name, async () => {
        order.push(`${name} stops`);
        await Promise.resolve();
        order.push(`${name} stopped`);
      });
    }
    expect(await lifecycle.stop('SIGTERM')).toEqual({ late: [], failed: [] });
    expect(order).toEqual([
      'http stops',
      'http stopped',
      'index stops',
      'index stopped',
      'database stops',
      'database stopped',
    ]);
  });

  test('abandons a late part and a failing one, and stops the others', async () => {
    const lifecycle = createLifecycle();
    const stopped: string[] = [];
    lifecycle.add('database', () => {
      stopped.push('database');
    });
    lifecycle.add('stuck', () => new Promise(() => undefined), 3000);
    const error = new Error('broken');
    lifecycle.add('broken', () => Promise.reject(error));
    lifecycle.add('throws', () => {
      throw error;
    });
    const report = lifecycle.stop('SIGINT');
    await vi.advanceTimersByTimeAsync(3000);
    expect(await report).toEqual({
      late: ['stuck'],
      failed: [
        { part: 'throws', error },
        { part: 'broken', error },
      ],
    });
    expect(stopped).toEqual(['database']);
  });

  test('stops once; the first reason stays', async () => {
    const lifecycle = createLifecycle();
    const stop = vi.fn();
    lifecycle.add('part', stop);
    expect(lifecycle.reason).toBeNull();
    await Promise.all([lifecycle.stop('SIGINT'), lifecycle.stop('done')]);
    await lifecycle.stop('error');
    expect(stop).toHaveBeenCalledTimes(1);
    expect(lifecycle.reason).toBe('SIGINT');
  });

  test('waits for work that listens to its signal before it stops what the work needs', async () => {
    const lifecycle = createLifecycle();
    const order: string[] = [];
    lifecycle.add('database', () => {
      order.push('database stopped');
    });
    const work = lifecycle.run('index', async (signal) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => setTimeout(resolve, 500));
      });
      order.push('work settled');
      signal.throwIfAborted();
    });
    const failed = expect(work).rejects.toThrow(/abort/u);
    const report = lifecycle.stop('SIGINT');
    await vi.advanceTimersByTimeAsync(500);
    expect(await report).toEqual({ late: [], failed: [] });
    await failed;
    expect(order).toEqual(['work settled', 'database stopped']);
  });

  test('forgets completed work, and starts none after the end has begun', async () => {
    const lifecycle = createLifecycle();
    expect(await lifecycle.run('work', () => Promise.resolve(7))).toBe(7);
    await expect(lifecycle.run('work', () => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    expect(await lifecycle.stop('done')).toEqual({ late: [], failed: [] });
    const late = vi.fn();
    await expect(lifecycle.run('late', late)).rejects.toThrow(/abort/u);
    expect(late).not.toHaveBeenCalled();
  });

  test('tells waiting callers that the end has begun, also afterwards', async () => {
    const lifecycle = createLifecycle();
    const waiting = lifecycle.untilStopping();
    await lifecycle.stop('SIGTERM');
    await waiting;
    await lifecycle.untilStopping();
    expect(lifecycle.signal.aborted).toBe(true);
  });

  test('stops parts that were added while it was stopping', async () => {
    const lifecycle = createLifecycle();
    const stop = vi.fn();
    lifecycle.add('slow', async () => {
      await Promise.resolve();
      lifecycle.add('late', stop);
    });
    await lifecycle.stop('SIGINT');
    expect(stop).toHaveBeenCalledTimes(1);
  });

  test('rejects for callers that wait for the end if an essential part failed', async () => {
    const lifecycle = createLifecycle();
    const waiting = lifecycle.untilStopping();
    const error = new Error('gone');
    lifecycle.fail(error);
    await expect(waiting).rejects.toBe(error);
    await expect(lifecycle.untilStopping()).rejects.toBe(error);
  });

  test('ignores failures that its own end causes', async () => {
    const lifecycle = createLifecycle();
    const waiting = lifecycle.untilStopping();
    await lifecycle.stop('SIGTERM');
    lifecycle.fail(new Error('closed'));
    await waiting;
  });

  test('pauses until the time is over or the end begins', async () => {
    const lifecycle = createLifecycle();
    const short = lifecycle.pause(100);
    await vi.advanceTimersByTimeAsync(100);
    await short;
    const long = expect(lifecycle.pause(1e6)).rejects.toThrow(/abort/u);
    await lifecycle.stop('SIGTERM');
    await long;
  });
});

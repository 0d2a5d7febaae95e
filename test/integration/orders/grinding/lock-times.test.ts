import { afterEach, describe, expect, test } from 'vitest';
import { findLockTime } from '#orders/grinding/find-lock-time.ts';
import { LockTimes } from '#orders/grinding/lock-times.ts';

const bytes = (fill: number): Uint8Array => new Uint8Array(137).fill(fill);
const some = [bytes(1), bytes(2), bytes(3)];
const found = (unsigned: readonly Uint8Array[]) => unsigned.map((one) => findLockTime(one, 'abc'));

describe('searches of lock times', () => {
  const lockTimes = new LockTimes();
  afterEach(() => lockTimes.ended());

  const nextEnd = (): Promise<void> => new Promise((resolve) => lockTimes.onEnd(resolve));

  test('end with one for each transaction, in order, until they are forgotten', async () => {
    const end = nextEnd();
    expect(lockTimes.of('order', some, 'abc')).toBeNull();
    expect(lockTimes.of('order', some, 'abc')).toBeNull();
    expect(lockTimes.ended()).toEqual([]);
    // a running search is not deleted
    lockTimes.forget('order');
    await end;
    // a result that was not reported yet is not deleted either
    lockTimes.forget('order');
    expect(lockTimes.ended()).toEqual(['order']);
    expect(lockTimes.ended()).toEqual([]);
    expect(lockTimes.of('order', some, 'abc')).toEqual(found(some));
    expect(lockTimes.of('order', some, 'abc')).toEqual(found(some));
    lockTimes.forget('order');
    const again = nextEnd();
    expect(lockTimes.of('order', some, 'abc')).toBeNull();
    await again;
  });

  test('for transactions that an order no longer has report nothing', async () => {
    const end = nextEnd();
    expect(lockTimes.of('changed', some, 'abc')).toBeNull();
    const [, ...others] = some;
    expect(lockTimes.of('changed', others, 'abc')).toBeNull();
    await end;
    expect(lockTimes.ended()).toEqual(['changed']);
    expect(lockTimes.of('changed', others, 'abc')).toEqual(found(others));
  });

  test('for a growing list continue from the known lock times', async () => {
    const first = nextEnd();
    expect(lockTimes.of('growing', some.slice(0, 1), 'abc')).toBeNull();
    await first;
    expect(lockTimes.of('growing', some.slice(0, 1), 'abc')).toEqual(found(some.slice(0, 1)));
    const all = nextEnd();
    expect(lockTimes.of('growing', some, 'abc')).toBeNull();
    lockTimes.ended();
    // known lock times stay while other lock times are searched
    lockTimes.forget('growing');
    expect(lockTimes.of('growing', some.slice(0, 1), 'abc')).toEqual(found(some.slice(0, 1)));
    await all;
    expect(lockTimes.of('growing', some, 'abc')).toEqual(found(some));
  });

  test('that fail throw once, and begin again', async () => {
    const end = nextEnd();
    expect(lockTimes.of('faulty', some, 'no hex')).toBeNull();
    await end;
    expect(() => lockTimes.of('faulty', some, 'no hex')).toThrow(/a prefix/u);
    const again = nextEnd();
    expect(lockTimes.of('faulty', some, 'no hex')).toBeNull();
    await again;
  });

  test('end with the process', async () => {
    const closing = new LockTimes();
    expect(closing.of('order', some, 'abcd')).toBeNull();
    await closing.close();
  });
});

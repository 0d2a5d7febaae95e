import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { askedBeside } from '#bench/asked-beside.ts';

const often = { everyMs: 1, atOnce: 2 };

describe('questions beside work', () => {
  test('are asked until the work ends, and their times are returned', async () => {
    let asked = 0;
    let enough = (): void => undefined;
    const isAskedOften = new Promise<void>((resolve) => (enough = resolve));
    const ask = async (place: number): Promise<void> => {
      asked++;
      if (place === 5) enough();
    };
    const { result, times } = await askedBeside(often, ask, async () => {
      await isAskedOften;
      return 'done';
    });
    expect([result, times.length]).toEqual(['done', asked]);
    const before = asked;
    await sleep(20);
    expect(asked).toBe(before);
  });

  test('begin one after the other, not all at the same time', async () => {
    let asked = 0;
    const ask = async (): Promise<void> => void asked++;
    const { result } = await askedBeside({ everyMs: 5, atOnce: 3 }, ask, async () => asked);
    expect(result).toBe(1);
  });

  test('end with work that fails, whose failure is thrown', async () => {
    let asked = 0;
    const ask = async (): Promise<void> => void asked++;
    const failing = askedBeside(often, ask, () => Promise.reject(new Error('the order was not paid')));
    await expect(failing).rejects.toThrow('the order was not paid');
    const before = asked;
    await sleep(20);
    expect(asked).toBe(before);
  });

  test('end the work if one of them fails', async () => {
    const ask = (): Promise<void> => Promise.reject(new Error('refused'));
    await expect(askedBeside(often, ask, () => new Promise<never>(() => undefined))).rejects.toThrow(
      'refused',
    );
  });
});

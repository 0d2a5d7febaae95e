import { expect, test, vi } from 'vitest';
import { OwnScriptLookups } from '#orders/customers/own-script-lookups.ts';

type Scripts = readonly Uint8Array[];

const script = (byte: number): Uint8Array => Uint8Array.of(byte);
const here = new AbortController().signal;

/** Look-ups whose scripts are the service's own if they are above 9. `fault` may refuse a look-up. */
function lookups(fault: (scripts: Scripts) => Error | null = () => null) {
  const asked: number[] = [];
  const own = new OwnScriptLookups(async (scripts) => {
    asked.push(scripts.length);
    const error = fault(scripts);
    if (error !== null) throw error;
    return scripts.filter(([byte = 0]) => byte > 9);
  });
  return { own, asked };
}

test('orders at the same time share a look-up, and each gets its own scripts', async () => {
  const { own, asked } = lookups();
  const answers = await Promise.all([
    own.ask([script(1), script(10)], here),
    own.ask([script(11)], here),
    own.ask([script(2)], here),
  ]);
  expect([answers, asked]).toEqual([[[script(10)], [script(11)], []], [4]]);
});

test('an order whose look-up fails does not refuse the orders beside it', async () => {
  const { own, asked } = lookups((scripts) =>
    scripts.some(([byte]) => byte === 7) ? new Error('too slow') : null,
  );
  const answers = await Promise.allSettled([
    own.ask([script(10)], here),
    own.ask([script(7)], here),
    own.ask([script(2)], here),
  ]);
  expect(answers).toEqual([
    { status: 'fulfilled', value: [script(10)] },
    { status: 'rejected', reason: new Error('too slow') },
    { status: 'fulfilled', value: [] },
  ]);
  expect(asked).toEqual([3, 1, 1, 1]);
});

test('a look-up that hangs does not hold up later orders', async () => {
  const hung = Promise.withResolvers<Scripts>();
  const read = vi.fn<() => Promise<Scripts>>(async () => []).mockReturnValueOnce(hung.promise);
  const own = new OwnScriptLookups(read);
  const first = own.ask([script(1)], here);
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(1));
  expect(await own.ask([script(2)], here)).toEqual([]);
  hung.resolve([]);
  expect(await first).toEqual([]);
});

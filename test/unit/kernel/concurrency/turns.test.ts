import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { nextTurn, Turns } from '#kernel/concurrency/turns.ts';

test('one piece of work is done in each turn of the event loop', async () => {
  let done = 0;
  const all = Promise.all(Array.from({ length: 10 }, () => nextTurn('a').then(() => done++)));
  for (let turns = 1; turns <= 10; turns++) {
    await turnOfLoop();
    expect(done).toBeLessThanOrEqual(turns);
  }
  await all;
  expect(done).toBe(10);
});

test('clients take turns, however many pieces one has', async () => {
  const order: string[] = [];
  const piece = async (client: string): Promise<void> => {
    await nextTurn(client);
    order.push(client);
  };
  await Promise.all([
    ...Array.from({ length: 5 }, () => piece('many')),
    piece('one'),
    piece('other'),
    piece('one'),
  ]);
  expect(order).toEqual(['many', 'one', 'other', 'many', 'one', 'many', 'many', 'many']);
});

test('work that waits again lets the others go first', async () => {
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let piece = 0; piece < 3; piece++) {
      await nextTurn();
      order.push(name);
    }
  };
  await Promise.all([work('a'), work('b')]);
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
});

test('work begins at once if there is room, and the rest waits in turn', async () => {
  const turns = new Turns(2);
  const order: string[] = [];
  const begin = async (client: string): Promise<void> => {
    const wait = turns.enter(client);
    if (wait !== undefined) await wait;
    order.push(client);
  };
  const all = ['a', 'a', 'a', 'a', 'a', 'b'].map((client) => begin(client));
  expect(order).toEqual(['a', 'a']);
  await turnOfLoop();
  expect(order).toEqual(['a', 'a', 'a', 'b']);
  await Promise.all(all);
  expect(order).toEqual(['a', 'a', 'a', 'b', 'a', 'a']);
  await turnOfLoop();
  expect(turns.enter('c')).toBeUndefined();
});

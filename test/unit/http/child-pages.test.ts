import fc from 'fast-check';
import type { ClientBase } from 'pg';
import { expect, test } from 'vitest';
import { ChildPages } from '#http/ord/child-pages.ts';

/** Children of one parent, with keys 3, 6, 9, …, as the index would give them; `steps` counts what it passed over. */
function childrenOf(count: number): { client: ClientBase; steps: () => number } {
  let steps = 0;
  const query = (_sql: string, [, after, limit, skip]: [number, number, number, number]): object => {
    const first = Math.floor(Math.max(after, 0) / 3) + 1 + skip;
    steps += skip + limit;
    const length = Math.max(Math.min(limit, count - first + 1), 0);
    return { rows: Array.from({ length }, (_, place) => ({ key: (first + place) * 3 })) };
  };
  return { client: { query } as unknown as ClientBase, steps: () => steps };
}

const tip = (undoEpoch: number) => ({ height: 1, hash: new Uint8Array(32), undoEpoch });

test('a page is the same, whatever was asked before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 1_250 }),
      fc.array(fc.integer({ min: 0, max: 14 }), { maxLength: 20 }),
      async (count, asked) => {
        const { client } = childrenOf(count);
        const pages = new ChildPages();
        for (const page of asked) {
          const expected = await new ChildPages().page(client, tip(0), 0, page);
          expect(await pages.page(client, tip(0), 0, page)).toEqual(expected);
          expect(expected.keys.length).toBe(Math.max(Math.min(100, count - page * 100), 0));
          expect(expected.more).toBe(count > (page + 1) * 100);
        }
      },
    ),
  );
});

test('who reads page by page passes over no child twice', async () => {
  const { client, steps } = childrenOf(1_000);
  const pages = new ChildPages();
  for (let page = 0; page < 10; page++) await pages.page(client, tip(0), 0, page);
  expect(steps()).toBe(10 * 101);
});

test('what was read before blocks were taken back is forgotten', async () => {
  const pages = new ChildPages();
  await pages.page(childrenOf(1_000).client, tip(0), 0, 0);
  const shorter = childrenOf(150);
  const shifted = { query: (sql: string, values: number[]) => shorter.client.query(sql, values) };
  const page = await pages.page(shifted as unknown as ClientBase, tip(1), 0, 1);
  expect(page.keys).toHaveLength(50);
  expect(shorter.steps()).toBe(201);
});

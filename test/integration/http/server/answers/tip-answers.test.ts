import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;

beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'kept', body: 'kept' }] }]);
});
afterAll(() => http.close());

const url = `/inscription/${idOf('kept')}`;

async function numberOf(path = url, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await http.app.inject({ url: path, headers: { accept: 'application/json', ...headers } });
  return answer.statusCode === 200 ? answer.json<{ number: number }>().number : answer.statusCode;
}

/** Changes a number without a new tip, which no writer does. */
async function renumber(number: number): Promise<void> {
  await http.database.pool.query('UPDATE chain.inscriptions SET number = $1', [number]);
}

async function changeTip(): Promise<void> {
  await http.database.pool.query('UPDATE chain.state SET undo_epoch = undo_epoch + 1');
}

describe('an answer of the current tip', () => {
  test('is kept until the tip changes', async () => {
    await renumber(4);
    await changeTip();
    expect(await numberOf()).toBe(4);
    await renumber(5);
    expect(await numberOf()).toBe(4);
    // another URL has another answer
    expect(await numberOf(`${url}?other`)).toBe(5);
    await changeTip();
    expect(await numberOf()).toBe(5);
  });

  test('has a tip that was read after each request, also for requests at the same time', async () => {
    for (const number of [6, 7]) {
      await renumber(number);
      await changeTip();
      expect(await Promise.all(Array.from({ length: 50 }, () => numberOf()))).toEqual(Array(50).fill(number));
    }
  });

  test('is not kept while a derived table is being filled', async () => {
    const { pool } = http.database;
    await pool.query(
      "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('of a test', 0, false)",
    );
    await renumber(9);
    expect(await numberOf()).toBe(9);
    await renumber(10);
    expect(await numberOf()).toBe(10);
    await pool.query("DELETE FROM chain.derived_tables WHERE name = 'of a test'");
  });

  test('is 304 for a client that has it', async () => {
    const { headers } = await http.app.inject({ url, headers: { accept: 'application/json' } });
    expect(await numberOf(url, { 'if-none-match': String(headers['etag']) })).toBe(304);
  });

  test('is never a page, and no page is sent as JSON', async () => {
    await renumber(8);
    await changeTip();
    expect(await numberOf()).toBe(8);
    const page = await http.app.inject({ url, headers: { accept: 'text/html' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(await numberOf()).toBe(8);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** An engine whose searches take as long on the server as a query says. */
const slowEngine: SearchEngine = {
  name: 'slow',
  searchText: async ({ client, tip }, { needles }) => {
    await client.query('SELECT pg_sleep($1)', [Number(needles[0])]);
    return { keys: [], totalItems: 0, tip };
  },
  searchHash: () => Promise.reject(new Error('not asked here')),
  facetsOfText: () => Promise.reject(new Error('not asked here')),
  facetsOfHash: () => Promise.reject(new Error('not asked here')),
  close: () => Promise.resolve(),
};

let plain: HttpApp;
let slow: HttpApp;
let pool: ReturnType<typeof createPool>;
let address: string;
let gate: FairGate;

beforeAll(async () => {
  plain = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'one of 3000' }] }]);
  pool = createPool(plain.database.readerUrl, {
    statementTimeoutMs: 20_000,
    applicationName: 'slow searches',
  });
  gate = new FairGate({
    running: 2,
    waiting: 1,
    waitMs: 5_000,
    refusal: () => new AppError('search_busy', 'too many searches like this are running'),
  });
  slow = await createHttpApp([], { search: createSearchService({ pool, engine: slowEngine, gate }) });
  address = await slow.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await slow.close();
  await pool.end();
  await plain.close();
});

const search = (seconds: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${address}/search?text=${seconds}`, signal === undefined ? {} : { signal });

async function running(): Promise<number> {
  const { rows } = await plain.database.readers.query<{ count: number }>(
    `SELECT count(*) AS count FROM pg_stat_activity
     WHERE application_name = 'slow searches' AND state = 'active' AND query LIKE '%pg_sleep%'`,
  );
  return rows[0]?.count ?? 0;
}

describe('slow searches', () => {
  test('beyond those that run and wait are refused with a retry time, in the form of searches', async () => {
    const taken = [search('2.1'), search('2.2')];
    await waitUntil(async () => (await running()) === 2);
    const waiting = search('0.1');
    await waitUntil(() => gate.state.length === 1, { everyMs: 5 });
    const refused = await search('0.2');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toEqual({
      status: 'error',
      reason: 'too many searches like this are running',
    });
    for (const answer of [...taken, waiting])
      expect(await (await answer).json()).toMatchObject({ status: 'ok' });
  });

  test('end on the server when their clients disconnect, and others take their places', async () => {
    const controller = new AbortController();
    const gone = [search('15', controller.signal), search('16', controller.signal)];
    const settled = Promise.allSettled(gone);
    await waitUntil(async () => (await running()) === 2);
    controller.abort();
    await settled;
    // a search waits at most 5 seconds for a place, and the statements of the gone clients would take 15
    expect(await (await search('0.05')).json()).toMatchObject({ status: 'ok' });
    await waitUntil(async () => (await running()) === 0, { limitMs: 6_000 });
    expect(slow.logged.filter(({ msg }) => msg === 'request failed')).toEqual([]);
  });
});

test('slow suggestions are made from the newest contents', async () => {
  const answer = await fetch(`${address}/search/suggest?text=300`);
  expect(await answer.json()).toMatchObject({ status: 'ok', words: [{ text: '3000', contents: 1 }] });
});

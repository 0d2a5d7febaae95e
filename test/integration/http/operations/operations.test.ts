import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import { createHealth } from '#kernel/reports/health.ts';
import { holdWriterLock } from '#test/support/chain/chain-dump.ts';
import { blockHashOf } from '#test/support/chain/rows/chain-rows.ts';
import { ordClientFaults } from '#test/support/http/ord-client.ts';
import { createHttpApp, type HttpApp, type HttpAppOptions } from '#test/support/http-app.ts';

let http: HttpApp | null = null;
let giveBack: (() => void) | null = null;

afterEach(async () => {
  giveBack?.();
  giveBack = null;
  await http?.close();
  http = null;
});

const blocks = [
  { height: 0, rows: [{ name: 'a', body: 'text' }] },
  { height: 1, rows: [{ name: 'b', metadata: '{"a":1}' }, { name: 'c' }] },
];

async function open(options: HttpAppOptions = {}): Promise<HttpApp> {
  http = await createHttpApp(blocks, options);
  // from now on, it seems that a process indexes
  giveBack = await holdWriterLock(http.database.pool);
  return http;
}

/** Writes the status of the indexing process. */
async function say(
  { database }: HttpApp,
  {
    state = 'following',
    source = 'node http://127.0.0.1:8332',
    height = 1,
    seconds = 0,
    code = null as string | null,
  },
): Promise<void> {
  await database.pool.query('DELETE FROM chain.follower_status');
  await database.pool.query(
    `INSERT INTO chain.follower_status (state, source, source_height, source_hash, problem_code, problem_message,
       problem_since, updated_at)
     VALUES ($1, $2, $3, $4, $5::text, CASE WHEN $5::text IS NULL THEN NULL ELSE 'It said why.' END,
       CASE WHEN $5::text IS NULL THEN NULL::timestamptz ELSE '2026-11-21T10:00:00Z' END, now() - make_interval(secs => $6))`,
    [state, source, height, Buffer.alloc(32, 7), code, seconds],
  );
}

interface Ready {
  readonly status: string;
  readonly reason?: string;
  readonly reasons?: readonly {
    readonly code: string;
    readonly message: string;
    readonly since: string | null;
  }[];
}

async function ready({ app }: HttpApp): Promise<{ status: number; body: Ready }> {
  const answer = await app.inject('/health/ready');
  expect(answer.headers['cache-control']).toBe('no-store');
  return { status: answer.statusCode, body: answer.json<Ready>() };
}

describe('/health/ready', () => {
  test('is ok at the tip, and names it', async () => {
    const running = await open();
    await say(running, {});
    expect(await ready(running)).toEqual({
      status: 200,
      body: {
        status: 'ok',
        role: 'all',
        state: 'following',
        height: 1,
        sourceHeight: 1,
        lagBlocks: 0,
        lagSeconds: 0,
        catchingUp: [],
        degraded: [],
      },
    });
  });

  test('is ok while a derived table is being filled, and has its progress, like the status', async () => {
    const running = await open();
    await say(running, {});
    const { pool } = running.database;
    await pool.query(
      `INSERT INTO chain.derived_tables (name, from_height, is_followed, tip_height, tip_hash,
         problem_code, problem_message, problem_since)
       VALUES ('parent_children', 0, false, 0, $1, NULL, NULL, NULL),
         ('outputs', 0, true, NULL, NULL, NULL, NULL, NULL),
         ('later', 5, false, NULL, NULL, 'node_pruned', 'Block 5 is pruned.', '2026-11-21T10:00:00Z')`,
      [blockHashOf(0)],
    );
    expect(await ready(running)).toMatchObject({
      status: 200,
      body: {
        catchingUp: [
          { name: 'later', height: null },
          { name: 'parent_children', height: 0 },
        ],
      },
    });
    const refOf = (height: number): object => ({
      height,
      hash: Buffer.from(blockHashOf(height)).reverse().toString('hex'),
    });
    const status = await running.app.inject({ url: '/status', headers: { accept: 'application/json' } });
    expect(status.json()).toMatchObject({
      address_index: true,
      satscribe: {
        derivedTables: [
          {
            name: 'later',
            fromHeight: 5,
            state: 'waiting',
            tip: null,
            problem: {
              code: 'node_pruned',
              message: 'Block 5 is pruned.',
              since: '2026-11-21T10:00:00.000Z',
            },
          },
          { name: 'outputs', fromHeight: 0, state: 'complete', tip: refOf(1), problem: null },
          { name: 'parent_children', fromHeight: 0, state: 'catching-up', tip: refOf(0), problem: null },
        ],
      },
    });
    const refused = await running.app.inject({
      url: '/collections',
      headers: { accept: 'application/json' },
    });
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('2');
    expect(refused.json()).toMatchObject({
      reason: 'The table parent_children is being filled. It has reached height 0 of 1.',
    });
    await pool.query('DELETE FROM chain.derived_tables');
  });

  test('gives the reason if not: the problem of the indexer, its silence, the lag', async () => {
    const running = await open();
    await say(running, { state: 'waiting', code: 'node_unreachable' });
    expect(await ready(running)).toMatchObject({
      status: 503,
      body: {
        status: 'error',
        reason: 'It said why.',
        reasons: [{ code: 'node_unreachable', message: 'It said why.', since: '2026-11-21T10:00:00.000Z' }],
        state: 'waiting',
        height: 1,
      },
    });
    await say(running, { seconds: 61 });
    expect((await ready(running)).body.reasons?.map(({ code }) => code)).toEqual(['indexer_gone']);
    await say(running, { height: 5 });
    expect(await ready(running)).toMatchObject({
      status: 503,
      body: { reasons: [{ code: 'index_behind' }], sourceHeight: 5, lagBlocks: 4 },
    });
  });

  test('reports at once that the indexing process has crashed, like the status', async () => {
    const running = await open();
    await say(running, {});
    giveBack?.();
    giveBack = null;
    await expect.poll(async () => (await ready(running)).status, { timeout: 10_000 }).toBe(503);
    expect((await ready(running)).body).toMatchObject({
      state: 'gone',
      reasons: [
        { code: 'indexer_gone', message: 'The process that indexed node http://127.0.0.1:8332 is gone.' },
      ],
    });
    const status = await running.app.inject({ url: '/status', headers: { accept: 'application/json' } });
    expect(status.json()).toMatchObject({ satscribe: { source: { state: 'gone' } } });
  });

  test('has the report of a part of this process, until that works again', async () => {
    const health = createHealth();
    const running = await open({ operations: { health } });
    await say(running, { source: 'folder ./x', state: 'ended' });
    health.report('indexing', new AppError('block_corrupt', 'Block 2 is corrupt.'));
    expect(await ready(running)).toMatchObject({ status: 503, body: { reason: 'Block 2 is corrupt.' } });
    health.report('indexing', null);
    expect(await ready(running)).toMatchObject({ status: 200 });
  });

  test('is ok while payments are on hold after a restore, and names the hold', async () => {
    const health = createHealth();
    const running = await open({ operations: { health } });
    await say(running, { source: 'folder ./x', state: 'ended' });
    expect(await ready(running)).toMatchObject({ status: 200, body: { degraded: [] } });
    health.reportDegraded('payments', new AppError('restored_on_hold', 'Payments wait.'));
    const degraded = [
      { code: 'restored_on_hold', message: 'Payments wait.', since: expect.any(String) as string },
    ];
    expect(await ready(running)).toMatchObject({ status: 200, body: { status: 'ok', degraded } });
    const status = await running.app.inject({ url: '/status', headers: { accept: 'application/json' } });
    expect(status.json()).toMatchObject({ satscribe: { problems: [], degraded } });
    const page = await running.app.inject({ url: '/status', headers: { accept: 'text/html' } });
    expect(page.body).toContain(errorCodes.restored_on_hold.meaning);
    health.report('indexing', new AppError('block_corrupt', 'Block 2 is corrupt.'));
    expect(await ready(running)).toMatchObject({
      status: 503,
      body: { reasons: [{ code: 'block_corrupt' }], degraded },
    });
  });

  test('is ok for a standby process, whatever the other one reports', async () => {
    const running = await open({ operations: { role: 'indexer', standsBy: () => true } });
    await say(running, { state: 'waiting', code: 'node_unreachable', seconds: 100 });
    expect(await ready(running)).toMatchObject({ status: 200, body: { state: 'standby', role: 'indexer' } });
  });
});

describe('/status', () => {
  test("has ord's keys, and what is followed in an object of its own", async () => {
    const running = await open({ operations: { version: '1.2.3', startedAt: new Date(Date.now() - 5000) } });
    await say(running, { height: 3 });
    const answer = await running.app.inject('/status');
    expect(answer.headers['x-indexed-height']).toBe('1');
    expect(ordClientFaults('status', answer.body)).toEqual([]);
    const body = answer.json<Record<string, unknown>>();
    const hash = Buffer.from(blockHashOf(1)).reverse().toString('hex');
    expect(body).toMatchObject({
      chain: 'regtest',
      height: 1,
      inscriptions: 3,
      address_index: false,
      inscription_index: true,
      json_api: true,
      sat_index: false,
      rune_index: false,
      unrecoverably_reorged: false,
      satscribe: {
        version: '1.2.3',
        role: 'all',
        tip: { height: 1, hash },
        tipHash: hash,
        blocks: 2,
        islands: 1,
        source: { state: 'following', tip: { height: 3, hash: '07'.repeat(32) }, problem: null },
        lag: { blocks: 2 },
        problems: [],
        cumulativeHashes: { inscriptions: null },
        mempool: null,
        search: { engine: 'postgres' },
      },
    });
    expect((body['uptime'] as { secs: number }).secs).toBeGreaterThanOrEqual(5);
    expect(Date.parse(String(body['started']))).toBeLessThan(Date.now());
  });

  test('exists before anything is indexed', async () => {
    http = await createHttpApp([]);
    const answer = await http.app.inject('/status');
    expect(answer.statusCode).toBe(200);
    expect(ordClientFaults('status', answer.body)).toEqual([]);
    expect(answer.json()).toMatchObject({
      height: null,
      initial_sync_time: { secs: 0, nanos: 0 },
      inscriptions: 0,
      satscribe: { tip: null, source: null, lag: null },
    });
  });

  test('people get the same as a page, in words and without the address of the node', async () => {
    const health = createHealth();
    health.report('audit', new AppError('audit_differs', 'order 17 of bcrt1qsecret differs'));
    const running = await open({
      operations: { health, diskRoom: async () => ({ freeBytes: 5e11, totalBytes: 2e12 }) },
    });
    await say(running, { state: 'syncing', height: 2001, code: 'node_unreachable' });
    const page = await running.app.inject({ url: '/status', headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['vary']).toContain('Accept');
    for (const part of [
      '<h1>Status</h1>',
      errorCodes.node_unreachable.meaning,
      errorCodes.audit_differs.meaning,
      '2,000 blocks',
      '0.09 %',
      'the rate is unknown until a minute after the start',
      'answered by Postgres',
      'not taken here',
      '500 GB free of 2.0 TB (25 %)',
      'event streams',
      'begin two minutes after the start',
    ])
      expect(page.body).toContain(part);
    for (const secret of ['127.0.0.1:8332', 'bcrt1qsecret']) expect(page.body).not.toContain(secret);
    const answers = [undefined, '*/*', 'application/json'].map(async (accept) =>
      running.app.inject({ url: '/status', headers: accept === undefined ? {} : { accept } }),
    );
    for (const answer of await Promise.all(answers))
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('the page exists before anything is indexed', async () => {
    http = await createHttpApp([]);
    const page = await http.app.inject({ url: '/status', headers: { accept: 'text/html' } });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('No process has indexed here yet.');
    expect(page.body).toContain('unknown: the source was not reached yet');
  });

  test('counts certain facts if blocks are missing, and says that totals are unknown', async () => {
    http = await createHttpApp([{ height: 100, rows: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }]);
    const { app, database } = http;
    const { pool } = database;
    await pool.query('UPDATE chain.blocks SET blessed = NULL, cursed = NULL, lost_sats = NULL');
    await pool.query(
      'UPDATE chain.inscriptions SET number = CASE key WHEN 0 THEN 7 WHEN 1 THEN -3 END, curse = NULL',
    );
    const answer = await app.inject('/status');
    expect(ordClientFaults('status', answer.body)).toEqual([]);
    expect(answer.json()).toMatchObject({
      inscriptions: 3,
      blessed_inscriptions: 1,
      cursed_inscriptions: 1,
      lost_sats: 0,
      satscribe: { totals: { blessed: null, cursed: null, lostSats: null } },
    });
  });
});

describe('/metrics', () => {
  test('is the only path without CORS for other origins', async () => {
    const origin = 'https://shop.example';
    const { app } = (http = await createHttpApp([]));
    const answer = await app.inject({ url: '/metrics', headers: { origin } });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    for (const url of ['/health/ready', '/status', '/search?text=a', '/nothing'])
      expect((await app.inject({ url, headers: { origin } })).headers['access-control-allow-origin']).toBe(
        '*',
      );
    const key = { method: 'POST', url: '/key', headers: { origin } } as const;
    expect((await app.inject(key)).headers['access-control-allow-origin']).toBeUndefined();
  });

  test('counts requests by the pattern of their route, not by their path', async () => {
    const { app } = await open();
    for (const path of ['/block/0', '/block/1', '/nowhere/1', '/nowhere/2', '/search?text=a'])
      await app.inject({ url: path, headers: { accept: 'application/json' } });
    const answer = await app.inject('/metrics');
    expect(answer.headers['content-type']).toContain('text/plain');
    const counts = answer.body
      .split('\n')
      .filter((line) => line.startsWith('satscribe_http_request_duration_seconds_count'));
    expect(counts.join('\n')).toContain('route="/search",status="200"} 1');
    expect(counts.join('\n')).toContain('route="none",status="404"} 2');
    expect(counts.join('\n')).not.toContain('/block/0');
    expect(counts).toHaveLength(3);
  });
});

describe('a process that only indexes', () => {
  test('answers for itself, and has no API', async () => {
    const { app } = await open({ operations: { role: 'indexer' } });
    for (const path of ['/health/live', '/metrics', '/status'])
      expect((await app.inject(path)).statusCode).toBe(200);
    expect((await app.inject('/content/0')).statusCode).toBe(404);
    expect((await app.inject('/search?text=a')).json()).toEqual({
      status: 'error',
      error: 'there is no /search',
    });
  });
});

describe('an overloaded process', () => {
  test('refuses with 503 in the form of each path, but answers health and metrics', async () => {
    const eventLoop = { eventLoopDelayMs: 100, eventLoopSampleMs: 200 };
    const opened = await open({ eventLoop });
    const { app, logged } = opened;
    const block = async (): Promise<void> => {
      for (const until = performance.now() + 4 * eventLoop.eventLoopSampleMs; performance.now() < until; ) {
        const turn = performance.now() + 2 * eventLoop.eventLoopDelayMs;
        while (performance.now() < turn);
        await nextTurn();
      }
    };
    await say(opened, {});
    await block();
    const page = await app.inject({ url: '/', headers: { accept: 'text/html' } });
    expect(page.statusCode).toBe(503);
    expect(page.headers).toMatchObject({ 'retry-after': '2', 'content-type': 'text/html; charset=utf-8' });
    const search = await app.inject('/search?text=a');
    expect(search.statusCode).toBe(503);
    expect(search.headers['access-control-allow-origin']).toBe('*');
    expect(search.json()).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('too many requests at once') as string,
    });
    for (const url of ['/health/live', '/health/ready', '/status', '/metrics'])
      expect({ url, status: (await app.inject(url)).statusCode }).toEqual({ url, status: 200 });
    expect(logged).toEqual([]);
    await expect
      .poll(async () => (await app.inject('/search?text=a')).statusCode, { timeout: 10_000 })
      .toBe(200);
  });
});

test('many requests for the status at once are read one after another', async () => {
  const { app, database } = await open();
  let taken = 0;
  database.readers.on('acquire', () => taken++);
  for (const path of ['/status', '/health/ready', '/metrics']) {
    taken = 0;
    const alone = await app.inject(path);
    const once = taken;
    taken = 0;
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.inject(path)));
    expect(new Set(answers.map(({ statusCode }) => statusCode)), path).toEqual(new Set([alone.statusCode]));
    // the responses arrive over a dozen turns of the event loop
    expect(taken, path).toBeLessThanOrEqual(12 * once);
  }
});

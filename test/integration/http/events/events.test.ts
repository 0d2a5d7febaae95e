import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import {
  EventConsumer,
  parseNdjson,
  placesOfTables,
  type ReceivedEvent,
} from '#test/support/chain/events/event-consumer.ts';
import { readHashes, readOutbox } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('reorg-1');
const [best, short, long] = golden.tips().map(({ tip }) => tip) as [string, string, string];
let root: string;
let http: HttpApp;
let address: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-feed-'));
  golden.writeFolder(root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function openApp(): Promise<void> {
  http = await createHttpApp([]);
  address = await http.app.listen({ host: '127.0.0.1', port: 0 });
}

async function goTo(tip: string, until?: number): Promise<void> {
  const source = await openFolderSource(root, { tip });
  const signal = new AbortController().signal;
  await follow({
    source,
    pool: http.database.pool,
    signal,
    threads: parseThreads(),
    ...(until === undefined ? {} : { until: asHeight(until) }),
  });
}

async function events(query = ''): Promise<ReceivedEvent[]> {
  const answer = await fetch(`${address}/events${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  return parseNdjson(await answer.text());
}

describe('the stream of events', () => {
  beforeEach(openApp);
  afterEach(() => http.close());

  test('replayed over reorganisations gives the content of the tables', { tags: ['proof'] }, async () => {
    const consumer = new EventConsumer();
    let seen: string | undefined;
    for (const tip of [short, best, long, short, best]) {
      await goTo(tip);
      const news = await events(seen === undefined ? '' : `?after=${seen}`);
      consumer.take(news);
      seen = news.at(-1)?.id;
      expect(consumer.places).toEqual(await placesOfTables(http.database.pool));
    }
    const all = await events('?from=0');
    const fromStart = new EventConsumer();
    fromStart.take(all);
    expect(fromStart.places).toEqual(consumer.places);
    expect(all.filter(({ type }) => type === 'undo').length).toBeGreaterThan(20);
    const sequences = [...new Set(all.map(({ id }) => Number(id.split('.')[0])))];
    expect(sequences).toEqual(sequences.map((_, at) => at + 1));
  });

  test('resumes after any received event, with no event missing or repeated', async () => {
    await goTo(short);
    await goTo(best);
    const all = await events();
    const ids = all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cuts = [0, 1, ids.length - 1, ...Array.from({ length: 12 }, (_, n) => (n * 7919) % ids.length)];
    for (const cut of cuts) {
      expect((await events(`?after=${ids[cut]}`)).map(({ id }) => id)).toEqual(ids.slice(cut + 1));
      expect((await events(`?from=${ids[cut]}&limit=5`)).map(({ id }) => id)).toEqual(
        ids.slice(cut, cut + 5),
      );
    }
    const whole = ids.findIndex((id) => id.startsWith('121.'));
    expect((await events('?from=121')).map(({ id }) => id)).toEqual(ids.slice(whole));
    expect((await events('?after=120')).map(({ id }) => id)).toEqual(ids.slice(whole));
    expect(await events('?from=100000')).toEqual([]);
    expect(await events(`?after=${ids.at(-1)}`)).toEqual([]);
  });

  test('is the same if texts were deleted, and says which cannot be rebuilt', async () => {
    await goTo(long);
    await goTo(best);
    const all = await events();
    await http.database.pool.query('UPDATE chain.outbox SET events = NULL');
    const undone = new Set(all.filter(({ type }) => type === 'undo').map(({ cancels }) => String(cancels)));
    expect(undone.size).toBeGreaterThan(5);
    const isLost = ({ id }: ReceivedEvent): boolean => undone.has(id.split('.')[0]!);
    const left = all
      .filter((event) => event.type === 'block' || !isLost(event))
      .map((event) => (isLost(event) ? { ...event, eventsKept: false } : event));
    const made = await events();
    expect(made).toEqual(left);
    const consumer = new EventConsumer();
    consumer.take(made);
    expect(consumer.places).toEqual(await placesOfTables(http.database.pool));
  });

  test('is refused until a first load has built its indexes', async () => {
    await goTo(best, 20);
    await http.database.pool.query('DROP INDEX chain.locations_spent');
    for (const path of ['/events', '/events/text/5']) {
      const answer = await fetch(`${address}${path}`);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ reason: expect.stringContaining('first load') as string });
    }
    expect((await fetch(`${address}/events/hashes`)).status).toBe(200);
  });
});

describe('over an empty index', () => {
  beforeAll(openApp);
  afterAll(() => http.close());

  test.each([
    ['/events?from=x', 'from is not the id of an event'],
    ['/events?from=-1', 'from is not the id of an event'],
    ['/events?from=1.', 'from is not the id of an event'],
    ['/events?from=1&from=2', 'from is given more than once'],
    ['/events?after=1.2.3', 'after is not the id of an event'],
    ['/events?after=9999999999999999', 'after is not the id of an event'],
    ['/events?from=1&after=1', 'only one of from and after'],
    ['/events?limit=0', 'limit must be >= 1'],
    ['/events?limit=x', 'limit is not a whole number'],
    ['/events?limit=1&limit=2', 'limit is given more than once'],
    ['/events/hashes?from=1.5', 'from is not a whole number'],
    ['/events/text/x', 'height is not a whole number'],
    ['/events/hashes?limit=2001', 'limit must be <= 2000'],
  ])('refuses %s', async (path, error) => {
    const answer = await fetch(`${address}${path}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      status: 'error',
      error: expect.stringContaining(error) as string,
      code: 'request_invalid',
      parameter: /[?/](from|after|limit|text)/u.exec(path)?.[1]?.replace('text', 'height'),
    });
  });

  test('answers HEAD without reading anything, and an empty index with nothing', async () => {
    for (const accept of ['*/*', 'text/event-stream']) {
      const answer = await fetch(`${address}/events`, { method: 'HEAD', headers: { accept } });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toBe('');
    }
    expect(await events()).toEqual([]);
  });
});

describe('hashes', () => {
  beforeEach(openApp);
  afterEach(() => http.close());

  test('are those of the texts, and can be read from any height', async () => {
    await goTo(best);
    const stored = await readHashes(http.database.pool);
    type Answer = {
      version: number;
      hashes: { height: number; blockHash: string; sha256: string; cumulative: string }[];
    };
    const ask = async (query: string): Promise<Answer> =>
      (await (await fetch(`${address}/events/hashes${query}`)).json()) as Answer;
    const { version, hashes } = await ask('?from=0&limit=2000');
    expect(version).toBe(1);
    expect(hashes.map(({ height, sha256, cumulative }) => [height, { sha256, cumulative }])).toEqual([
      ...stored,
    ]);
    expect(hashes.map(({ blockHash }) => blockHash)).toEqual(golden.chain.headers.map(({ hash }) => hash));
    expect((await ask('?from=7&limit=3')).hashes).toEqual(hashes.slice(7, 10));
    expect((await ask('?limit=4')).hashes).toEqual(hashes.slice(-4));
    expect((await ask('?from=5000')).hashes).toEqual([]);
    const outbox = await readOutbox(http.database.pool);
    const [first, last] = [0, golden.chain.headers.length - 1];
    // the newest texts are stored, older ones are rebuilt from the tables
    expect([outbox[first]?.text, outbox[last]?.text]).toEqual([null, expect.any(String)]);
    for (const height of [first, 104, 130, last]) {
      const answer = await fetch(`${address}/events/text/${height}`);
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=us-ascii');
      const text = await answer.text();
      const kept = outbox[height]?.text ?? null;
      if (kept !== null) expect(text).toBe(kept);
      expect(createHash('sha256').update(text).digest('hex')).toBe(hashes[height]?.sha256);
    }
    expect((await fetch(`${address}/events/text/9999`)).status).toBe(404);
  });

  test('after any reorganisation equal those of a clean index', async () => {
    const clean = new Map<string, unknown>();
    for (const tip of [best, short, long]) {
      const other = await createTestDatabase();
      const { pool } = other;
      const source = await openFolderSource(root, { tip });
      await follow({ source, pool, signal: new AbortController().signal, threads: parseThreads() });
      clean.set(tip, await readHashes(pool));
      await other.drop();
    }
    for (const [tip, until] of [
      [long, 115],
      [short, undefined],
      [best, 120],
      [long, undefined],
      [best, undefined],
      [short, undefined],
    ] as const) {
      await goTo(tip, until);
      if (until === undefined) expect(await readHashes(http.database.pool)).toEqual(clean.get(tip));
    }
  });
});

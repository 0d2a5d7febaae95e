import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inscriptionEvents } from '#indexer/events/inscription-events.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { birthKind } from '#test/support/chain/events/birth-events.ts';
import { parseNdjson, type ReceivedEvent } from '#test/support/chain/events/event-consumer.ts';
import { readHashes } from '#test/support/chain/events/event-rows.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

const golden = new GoldenChain('reorg-1');
const [best, , long] = golden.tips().map(({ tip }) => tip) as [string, string, string];
/** The progress of a catch-up pass; `null` if it has ended. */
let reached: number | null = null;
const births = birthKind({ firstHeight: asHeight(90), reached: () => reached });
let root: string;
let http: HttpApp;
let address: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'satscribe-feed-kinds-'));
  golden.writeFolder(root);
  http = await createHttpApp([], { eventKinds: [inscriptionEvents, births] });
  address = await http.app.listen({ host: '127.0.0.1', port: 0 });
  for (const tip of [long, best]) {
    await follow({
      source: await openFolderSource(root, { tip }),
      pool: http.database.pool,
      signal: new AbortController().signal,
      threads: parseThreads(),
      eventKinds: [inscriptionEvents, births],
    });
  }
});
afterAll(async () => {
  await http.close();
  await rm(root, { recursive: true, force: true });
});

async function events(query: string): Promise<ReceivedEvent[]> {
  const answer = await fetch(`${address}/events${query}`);
  expect(answer.status).toBe(200);
  return parseNdjson(await answer.text());
}

async function json<T>(path: string, status = 200): Promise<T> {
  const answer = await fetch(`${address}${path}`);
  expect(answer.status).toBe(status);
  return (await answer.json()) as T;
}

describe('the stream of a kind', () => {
  test('has the rows of the outbox with its own events and ids, which are in no other stream', async () => {
    const all = await events('?kind=births');
    const inscriptions = await events('');
    expect(await events('?kind=inscriptions')).toEqual(inscriptions);
    expect(inscriptions.every(({ id, type }) => /^\d+\.\d+$/u.test(id) && type !== 'inscription-born')).toBe(
      true,
    );
    const rowsOf = (stream: readonly ReceivedEvent[]): unknown[] =>
      stream
        .filter(({ type }) => type === 'block' || type === 'undo')
        .map(({ id, type, height, blockHash, cancels }) => [
          id.split('.')[0],
          type,
          height,
          blockHash,
          cancels,
        ]);
    expect(rowsOf(all)).toEqual(rowsOf(inscriptions));
    expect(all.every(({ id }) => /^\d+\.b\d+$/u.test(id))).toBe(true);
    const created = inscriptions.filter(({ type, height }) => type === 'inscription-created' && height >= 90);
    const born = all.filter(({ type }) => type === 'inscription-born');
    expect(born).toHaveLength(created.length);
    expect(new Set(born.map(({ inscriptionId }) => inscriptionId))).toEqual(
      new Set(created.map(({ inscriptionId }) => inscriptionId)),
    );
    expect(born.length).toBeGreaterThan(10);
    expect(all.filter(({ type }) => type === 'undo').length).toBeGreaterThan(5);
  });

  test('resumes after any of its events, and after a sequence', async () => {
    const ids = (await events('?kind=births')).map(({ id }) => id);
    for (const cut of [0, 1, 60, Math.floor(ids.length / 2), ids.length - 1]) {
      const after = await events(`?kind=births&after=${ids[cut]}`);
      expect(after.map(({ id }) => id)).toEqual(ids.slice(cut + 1));
      const from = await events(`?kind=births&from=${ids[cut]}&limit=3`);
      expect(from.map(({ id }) => id)).toEqual(ids.slice(cut, cut + 3));
    }
    const row = ids.findIndex((id) => id.startsWith('100.'));
    expect((await events('?kind=births&from=100&limit=1')).map(({ id }) => id)).toEqual([ids[row]]);
  });

  test.each([
    ['/events?kind=runes', 'kind must be one of inscriptions, births'],
    ['/events?kind=', 'kind must be one of inscriptions, births'],
    ['/events?kind=births&kind=births', 'kind is given more than once'],
    ['/events/hashes?kind=Births', 'kind must be one of inscriptions, births'],
    ['/events/text/100?kind=9', 'kind must be one of inscriptions, births'],
    [
      '/events?kind=births&from=12.3',
      'from is the id of another kind of event; an id of births is like 12.b3',
    ],
    ['/events?from=12.b3', 'from is the id of another kind of event; an id of inscriptions is like 12.3'],
    ['/events?after=12.r3', 'after is the id of another kind of event'],
    [
      '/events?kind=births&after=12.B3',
      'after is not the id of an event, such as 12.b3, or a sequence, such as 12',
    ],
  ])('refuses %s', async (path, error) => {
    expect(await json(path, 400)).toMatchObject({
      error: expect.stringContaining(error) as string,
      parameter: error.split(' ')[0],
    });
  });

  test('refuses to resume after an event of another kind', async () => {
    const headers = { accept: 'text/event-stream', 'last-event-id': '12.3' };
    const answer = await fetch(`${address}/events?kind=births`, { headers });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Last-Event-ID is the id of another kind of event');
  });
});

describe('the compared values', () => {
  test('are the texts and hashes of each kind, and the newest of them in the status', async () => {
    const stored = await readHashes(http.database.pool, births);
    interface Hashes {
      readonly version: number;
      readonly kind: string;
      readonly hashes: readonly { height: number; sha256: string; cumulative: string }[];
    }
    const answer = await json<Hashes>('/events/hashes?kind=births&from=0&limit=2000');
    expect(answer).toMatchObject({ version: 1, kind: 'births' });
    expect(answer.hashes.map(({ height, sha256, cumulative }) => [height, { sha256, cumulative }])).toEqual([
      ...stored,
    ]);
    expect(answer.hashes[0]?.height).toBe(90);
    expect(await json('/events/hashes')).toMatchObject({ version: 1, kind: 'inscriptions' });
    const text = await (await fetch(`${address}/events/text/104?kind=births`)).text();
    expect(text).toMatch(/^satscribe births 1 regtest 104 [0-9a-f]{64}\n/u);
    expect(createHash('sha256').update(text).digest('hex')).toBe(stored.get(104)?.sha256);
    const { satscribe } = await json<{ satscribe: { cumulativeHashes: unknown } }>('/status');
    const inscriptions = await readHashes(http.database.pool);
    const tip = golden.chain.headers.length - 1;
    expect(satscribe.cumulativeHashes).toMatchObject({
      inscriptions: { version: 1, height: tip, cumulative: inscriptions.get(tip)?.cumulative },
      births: { version: 1, height: tip, cumulative: stored.get(tip)?.cumulative },
    });
  });

  test('are refused with the height that a catch-up pass has reached, only for that kind', async () => {
    reached = 101;
    try {
      for (const path of ['/events?kind=births', '/events/text/95?kind=births']) {
        expect(await json(path, 503)).toMatchObject({ reason: 'births are read up to block 101' });
      }
      expect((await events('')).length).toBeGreaterThan(0);
      await json('/events/hashes?kind=births');
    } finally {
      reached = null;
    }
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';

/** A chain that has an inscription with 130 children, and an inscription with 105 parents. */
const golden = new GoldenChain('families-1');
const [best] = golden.tips();
const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
const apps: App[] = [];
let database: TestDatabase;
let blocks: BlockSource;
let app: App;

async function appWith(extra: Partial<AppDependencies>): Promise<App> {
  const { readers } = database;
  const made = buildCheckedApp({
    ...readerParts(readers, networks[golden.chain.network]),
    ...extra,
  });
  apps.push(made);
  await made.ready();
  return made;
}

beforeAll(async () => {
  golden.writeFolder(folder);
  database = await createTestDatabase();
  blocks = await openFolderSource(folder);
  await follow({ source: blocks, pool: database.pool, signal: new AbortController().signal });
  app = await appWith({ blocks });
});

afterAll(async () => {
  for (const made of apps) await made.close();
  await blocks.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const json = { accept: 'application/json' };
const get = async (url: string, headers: Record<string, string> = json) => app.inject({ url, headers });
const post = async (url: string, payload: unknown) =>
  app.inject({ method: 'POST', url, headers: json, payload: payload as object });

const tip = golden.chain.headers.at(-1)!;
const ids = golden.order(best!);
const unknownId = `${'ab'.repeat(32)}i0`;

const parentOfMany = (): string =>
  golden
    .answers<{ ids: string[] }>(best!, 'r-children')
    .find(({ value }) => value!.ids.length === 100)!
    .key.slice(0, -2);

describe('heights', () => {
  test.each([
    ['/blockcount', String(tip.height + 1)],
    ['/blockheight', String(tip.height)],
    ['/r/blockheight', String(tip.height)],
    ['/blockhash', tip.hash],
    ['/blockhash/7', golden.chain.headers[7]!.hash],
    ['/r/blockhash', `"${tip.hash}"`],
    ['/r/blockhash/7', `"${golden.chain.headers[7]!.hash}"`],
  ])('%s', async (url, body) => {
    const answer = await get(url, {});
    expect(answer.body).toBe(body);
    const type = body.startsWith('"') ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8';
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'access-control-allow-origin': '*',
      'x-indexed-height': String(tip.height),
    });
  });

  test('the time of the tip', async () => {
    const block = golden.block(tip).bytes;
    const time = new DataView(block.buffer, block.byteOffset).getUint32(68, true);
    for (const url of ['/blocktime', '/r/blocktime']) expect((await get(url)).body).toBe(String(time));
  });

  test('above the tip there is nothing', async () => {
    for (const url of [
      '/blockhash/9999',
      '/r/blockhash/9999',
      '/block/9999',
      '/r/block/9999',
      '/r/blockinfo/9999',
    ])
      expect((await get(url)).statusCode, url).toBe(404);
  });
});

describe('paths for inscriptions', () => {
  test.each([
    '/r/blockheight',
    '/blockhash',
    '/block/5',
    `/r/inscription/${ids[0]}`,
    `/r/children/${ids[0]}`,
    '/r/block/5',
    '/r/blockinfo/5',
  ])('%s has ord’s policies and an opaque origin', async (url) => {
    const { headers, statusCode } = await get(url);
    expect(statusCode).toBe(200);
    expect(headers['content-security-policy']).toHaveLength(3);
    expect(headers['content-security-policy']).toContain('sandbox allow-scripts');
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  test('is not sent again to a client that has it', async () => {
    const first = await get(`/r/children/${ids[0]}`);
    const again = await get(`/r/children/${ids[0]}`, { 'if-none-match': String(first.headers.etag) });
    expect(again.statusCode).toBe(304);
    expect(again.body).toBe('');
  });

  test('/r/block gives the bytes of the block', async () => {
    const hex = Buffer.from(golden.block(tip).bytes).toString('hex');
    expect((await get(`/r/block/${tip.hash}`)).json()).toBe(hex);
    expect((await get(`/r/block/${tip.height}`)).json()).toBe(hex);
  });

  test('/r/tx gives the bytes of a transaction of the block', async () => {
    const hex = (await get(`/r/tx/${ids[0]!.slice(0, 64)}`)).json<string>();
    expect(
      golden.chain.headers.some((header) => Buffer.from(golden.block(header).bytes).includes(hex, 'hex')),
    ).toBe(true);
  });
});

describe('a block', () => {
  test('has headers without a body too', async () => {
    for (const url of [`/block/${tip.height}`, `/r/block/${tip.height}`, `/decode/${ids[0]!.slice(0, 64)}`]) {
      const answer = await app.inject({ method: 'HEAD', url, headers: json });
      expect([answer.statusCode, answer.body], url).toEqual([200, '']);
    }
  });

  test('is a page for clients that ask for one', async () => {
    const page = await get(`/block/${tip.height}`, { accept: 'text/html' });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      vary: 'Accept, accept-encoding',
    });
    const asJson = await get(`/block/${tip.height}`);
    expect(asJson.headers['vary']).toBe('Accept, accept-encoding');
    expect(asJson.json()).toMatchObject({ height: tip.height, hash: tip.hash });
  });

  test('is one of the newest in /blocks, with its inscriptions of the highest fees', async () => {
    const {
      last,
      blocks: hashes,
      featured_blocks: featured,
    } = (await get('/blocks')).json<{
      last: number;
      blocks: string[];
      featured_blocks: Record<string, string[]>;
    }>();
    const newest = golden.chain.headers.toReversed();
    expect(last).toBe(tip.height);
    expect(hashes).toEqual(newest.slice(0, 100).map(({ hash }) => hash));
    expect(Object.keys(featured).sort()).toEqual(
      newest
        .slice(0, 5)
        .map(({ hash }) => hash)
        .sort(),
    );
    const fees = new Map(
      golden
        .answers<{ id: string; fee: number }>(best!, 'inscription')
        .map(({ key, value }) => [key, value!.fee]),
    );
    for (const { height, hash } of newest.slice(0, 5)) {
      const inBlock = golden
        .answers<{ ids: string[] }>(best!, 'inscriptions-block')
        .filter(({ key }) => key.startsWith(`${height}/`))
        .flatMap(({ value }) => value!.ids);
      const expected = inBlock
        .map((id, place) => ({ id, place }))
        .sort((a, b) => fees.get(b.id)! - fees.get(a.id)! || b.place - a.place)
        .slice(0, 8)
        .map(({ id }) => id);
      expect(featured[hash]).toEqual(expected);
    }
  });
});

describe('children', () => {
  test('come in pages, whichever page is read first', async () => {
    const parent = parentOfMany();
    const second = (await get(`/children/${parent}/1`)).json<{
      ids: string[];
      more: boolean;
      page: number;
    }>();
    const first = (await get(`/children/${parent}`)).json<{ ids: string[]; more: boolean; page: number }>();
    expect([first.ids.length, first.more, first.page]).toEqual([100, true, 0]);
    expect([second.more, second.page]).toEqual([false, 1]);
    expect((await get(`/children/${parent}/1`)).json()).toEqual(second);
    expect((await get(`/children/${parent}/2`)).json()).toEqual({ ids: [], more: false, page: 2 });
    expect(new Set([...first.ids, ...second.ids]).size).toBe(100 + second.ids.length);
    const all = [...first.ids, ...second.ids];
    for (const place of [0, 99, 100, all.length - 1])
      expect((await get(`/inscription/${parent}/${place}`)).json()).toMatchObject({ id: all[place] });
    expect((await get(`/inscription/${parent}/${all.length}`)).statusCode).toBe(404);
  });

  test('make collections, by the newest of them', async () => {
    const { ids: listed, page_index: page } = (await get('/collections')).json<{
      ids: string[];
      page_index: number;
    }>();
    expect(page).toBe(0);
    const order = new Map(ids.map((id, place) => [id, place]));
    const newest: number[] = [];
    for (const id of listed) {
      const children = golden
        .answers<{ ids: string[] }>(best!, 'r-children')
        .filter(({ key }) => key.startsWith(`${id}/`))
        .flatMap(({ value }) => value!.ids);
      newest.push(Math.max(...children.map((child) => order.get(child)!)));
    }
    expect(newest.length).toBeGreaterThan(10);
    expect(newest).toEqual(newest.toSorted((a, b) => b - a));
    expect((await get('/collections/99')).json()).toEqual({ ids: [], more: false, page_index: 99 });
  });
});

describe('many at once', () => {
  test('POST /inscriptions answers in the requested order, twice if requested twice', async () => {
    const asked = [ids[5]!, ids[0]!, ids[5]!, ids.at(-1)!];
    const answer = await post('/inscriptions', asked);
    expect(answer.json<{ id: string }[]>().map(({ id }) => id)).toEqual(asked);
    expect(answer.json<unknown[]>()[1]).toEqual((await get(`/inscription/${ids[0]}`)).json());
  });

  test('an unknown inscription is null for a client of ord, and a message for others', async () => {
    for (const url of [`/inscription/${unknownId}`, '/inscription/999999', `/inscription/${ids[0]}/9999`]) {
      // with `undefined`, `inject` sends no such header
      const forOrd = await app.inject({ url, headers: { ...json, 'user-agent': undefined as never } });
      expect([url, forOrd.statusCode, forOrd.body]).toEqual([url, 404, 'null']);
      for (const headers of [
        json,
        { accept: 'application/json, */*;q=0.1', 'user-agent': undefined as never },
      ]) {
        const other = await app.inject({ url, headers });
        expect([other.statusCode, other.json<{ status: string }>().status]).toEqual([404, 'error']);
      }
    }
  });

  test('POST /inscriptions of an unknown one is 404', async () => {
    const answer = await post('/inscriptions', [ids[0], unknownId]);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toEqual({ status: 'error', error: `inscription ${unknownId} not found` });
  });

  test('POST /missing names the unknown ones', async () => {
    const beyond = `${'cd'.repeat(32)}i4294967295`;
    expect((await post('/missing', [ids[0], unknownId, ids[1], beyond])).json()).toEqual([unknownId, beyond]);
    expect((await post('/missing', [])).json()).toEqual([]);
  });

  test('POST /missing and /inscriptions answer long lists in pieces, and in the same way as short ones', async () => {
    const made = Array.from(
      { length: 7000 },
      (_, place) => `${place.toString(16).padStart(64, '0')}i${place}`,
    );
    const asked = made.flatMap((id, place) => [id, ids[place % ids.length]!]);
    expect((await post('/missing', asked)).json()).toEqual(made);
    expect((await post('/missing', ids)).json()).toEqual([]);
    const repeated = Array.from({ length: 1200 }, (_, place) => ids[place % 7]!);
    const answer = await post('/inscriptions', repeated);
    expect(answer.json<{ id: string }[]>().map(({ id }) => id)).toEqual(repeated);
  });

  test('POST /outputs answers each in the same way as /output', async () => {
    const held = golden.answers(best!, 'output').filter(({ key }) => !key.startsWith('0000'));
    const keys = held.slice(0, 20).map(({ key }) => key);
    const alone = await Promise.all(keys.map(async (key) => (await get(`/output/${key}`)).json<unknown>()));
    expect((await post('/outputs', keys)).json()).toEqual(alone);
  });

  test.each([
    ['/outputs', [`${'0'.repeat(64)}:0`], /may not be queried in batch/u],
    ['/outputs', ['x'], /named by <txid>:<vout>/u],
    ['/outputs', {}, /not an array/u],
    ['/inscriptions', [1], /not a string/u],
    ['/inscriptions', ['x'], /not an inscription id/u],
    ['/inscriptions', Array.from({ length: 10_001 }, () => unknownId), /exceeds batch limit of 10000/u],
    ['/missing', ['i0'], /not an inscription id/u],
  ])('POST %s refuses %j', async (url, payload, words) => {
    const answer = await post(url, payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ error: string }>().error).toMatch(words);
  });
});

describe('a gallery', () => {
  test('can be read item by item too', async () => {
    const [entry] = golden
      .answers<{ ids: string[] }>(best!, 'gallery')
      .filter(({ value }) => value!.ids.length > 1);
    const id = entry!.key.split('/')[0]!;
    expect((await get(`/gallery/${id}/1`)).json()).toMatchObject({
      gallery_id: id,
      i: 1,
      item: { id: entry!.value!.ids[1] },
    });
    expect((await get(`/gallery/${id}/100000`)).statusCode).toBe(404);
  });
});

describe('transactions', () => {
  test('/tx is that of the block', async () => {
    const answer = (await get(`/tx/${ids[0]!.slice(0, 64)}`)).json<Record<string, unknown>>();
    const block = golden
      .answers<{ transactions: unknown[]; inscriptions: string[] }>(best!, 'block')
      .find(({ value }) => value!.inscriptions.includes(ids[0]!))!;
    expect(block.value!.transactions).toContainEqual(answer['transaction']);
    const inscriptions = ids.filter((id) => id.startsWith(ids[0]!.slice(0, 64))).length;
    expect(answer).toMatchObject({
      chain: 'regtest',
      inscription_count: inscriptions,
      txid: ids[0]!.slice(0, 64),
    });
  });

  test('/input is one of its inputs', async () => {
    const [coinbase] = golden
      .answers<{ transactions: { input: unknown[] }[] }>(best!, 'block')
      .find(({ key }) => key === '7')!.value!.transactions;
    expect((await get('/input/7/0/0')).json()).toEqual({ path: [7, 0, 0], input: coinbase!.input[0] });
    expect((await get('/input/7/0/9')).statusCode).toBe(404);
    expect((await get('/input/7/999/0')).statusCode).toBe(404);
  });
});

describe('impossible requests', () => {
  test.each([
    '/r/inscription/x',
    '/children/x',
    `/children/${ids[0]}/x`,
    `/children/${ids[0]}/-1`,
    '/inscriptions/block/x',
    `/inscriptions/block/${tip.hash}`,
    '/output/x',
    `/output/${'0'.repeat(64)}:4294967296`,
    '/tx/x',
    '/block/x',
    '/block/99999999999',
    '/blockhash/x',
    '/collections/x',
    '/gallery/x',
    `/inscription/${ids[0]}/x`,
  ])('%s is 400', async (url) => {
    expect((await get(url)).statusCode).toBe(400);
  });

  test.each([
    `/r/inscription/${unknownId}`,
    `/r/metadata/${unknownId}`,
    `/children/${unknownId}`,
    `/parents/${unknownId}`,
    `/gallery/${unknownId}`,
    `/r/undelegated-content/${unknownId}`,
    `/r/tx/${'ab'.repeat(32)}`,
    `/output/${'ab'.repeat(32)}:0`,
    `/r/utxo/${'ab'.repeat(32)}:0`,
    `/output/${ids[0]!.slice(0, 64)}:4000`,
  ])('%s is 404', async (url) => {
    expect((await get(url)).statusCode).toBe(404);
  });
});

describe('without a node', () => {
  test('an empty output is 404, with the reason', async () => {
    const [empty] = golden
      .answers<{ spent: boolean }>(best!, 'output-empty')
      .filter(({ value, key }) => value?.spent === false && !key.startsWith('4a5e1e4b'));
    const answer = await get(`/output/${empty!.key}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.json<{ error: string }>().error).toMatch(/Without a node/u);
  });

  test('and without blocks, answers with transactions are 404, with the reason', async () => {
    const bare = await appWith({});
    for (const url of [
      '/block/5',
      '/r/block/5',
      '/r/blockinfo/5',
      '/input/5/0/0',
      `/tx/${ids[0]!.slice(0, 64)}`,
    ]) {
      const answer = await bare.inject({ url, headers: json });
      expect(answer.statusCode, url).toBe(404);
      expect(answer.json<{ error: string }>().error, url).toMatch(/node/u);
    }
    // these paths need only the index
    expect((await bare.inject({ url: `/inscription/${ids[0]}`, headers: json })).statusCode).toBe(200);
    expect((await bare.inject({ url: '/blockheight' })).body).toBe(String(tip.height));
  });
});

test('with an unreachable node, answers that need it are 503, and others work', async () => {
  const node: NodeRpc = {
    url: 'http://127.0.0.1:1',
    call: () => Promise.reject(new AppError('node_unreachable', 'no node at http://127.0.0.1:1')),
  };
  const alone = await appWith({ node, blocks });
  const answer = await alone.inject({ url: `/tx/${'ab'.repeat(32)}`, headers: json });
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toEqual({ status: 'error', reason: 'the node does not answer' });
  const [held] = golden.answers(best!, 'output').filter(({ key }) => !key.startsWith('0000'));
  expect((await alone.inject({ url: `/output/${held!.key}`, headers: json })).statusCode).toBe(200);
  expect((await alone.inject({ url: '/block/5', headers: json })).statusCode).toBe(200);
});

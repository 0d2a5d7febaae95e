import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { asBlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { ReadSession } from '#search/elastic/queries/read-session.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';

const tip = { height: asHeight(7), hash: asBlockHash(new Uint8Array(32).fill(7)), undoEpoch: 1 };
const marker = {
  state: 'complete',
  rewinds: 0,
  database: 'this one',
  epoch: tip.undoEpoch,
  sequence: 1,
  tip: { height: tip.height, hash: displayHash(tip.hash) },
  nextKey: 10,
};

const answers: [url: RegExp, answer: object][] = [
  [/^\/_search/u, { timed_out: false, _shards: { failed: 0 }, hits: { total: { value: 0 } } }],
  [/\/_doc\//u, { _index: 'index', _seq_no: 1, _primary_term: 1, _source: { marker } }],
  [/\/_pit/u, { id: 'moment' }],
];
let searches = 0;
/** Names of the indices to which the alias points, one for each request. */
let indices: string[] = [];

/** A server that opens moments, reports no documents beyond the marker, and never ends a search. */
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  request.resume();
  const isSearch = request.url?.startsWith('/_search') === true;
  if (isSearch && ++searches > 1) {
    server.emit('search', response);
    return;
  }
  const found = answers.find(([url]) => url.test(request.url ?? ''))?.[1];
  const isMarker = found !== undefined && '_index' in found;
  const answer = isMarker ? { ...found, _index: indices.shift() ?? 'index' } : found;
  response
    .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
    .end(JSON.stringify(answer));
});
let client: ElasticClient;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = createElasticClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
beforeEach(() => {
  searches = 0;
  indices = [];
});
afterAll(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
});

test('a search without a waiting client is ended at the server', async () => {
  const session = new ReadSession(client, 'index', () => Promise.resolve('this one'));
  const controller = new AbortController();
  const snapshot = { client: {} as Snapshot['client'], tip, signal: controller.signal };
  const searching = once(server, 'search') as Promise<[ServerResponse]>;
  const outcome = session.run(snapshot, (moment) => moment.search({}, [])).catch((error: unknown) => error);
  const [response] = await searching;
  const closed = once(response, 'close');
  controller.abort();
  await closed;
  expect(response.writableFinished).toBe(false);
  expect(await outcome).toBe(controller.signal.reason);
});

test('a moment is of the index that its marker is of, whatever the alias names meanwhile', async () => {
  const session = new ReadSession(client, 'alias', () => Promise.resolve('this one'));
  const snapshot = { client: {} as Snapshot['client'], tip };
  indices = ['first', 'second'];
  const outcome = await session
    .run(snapshot, () => Promise.resolve('asked'))
    .catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: 'search_engine_behind' });
});

test('searches do not wait until shapes are counted, and use them once they are', async () => {
  const session = new ReadSession(client, 'index', () => Promise.resolve('this one'));
  const snapshot = { client: {} as Snapshot['client'], tip };
  const shapes = (): Promise<ReadonlyMap<string, number> | null> =>
    session.run(snapshot, (moment) => Promise.resolve(moment.shapes()));
  const counting = once(server, 'search') as Promise<[ServerResponse]>;
  expect(await shapes()).toBeNull();
  const [response] = await counting;
  // all searches of the moment share one count
  expect(await shapes()).toBeNull();
  expect(searches).toBe(2);
  const buckets = [{ key: 'ab', inscriptions: { value: 3 } }];
  response
    .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
    .end(JSON.stringify({ timed_out: false, _shards: { failed: 0 }, aggregations: { shapes: { buckets } } }));
  await expect.poll(shapes).toEqual(new Map([['ab', 3]]));
  expect(searches).toBe(2);
});

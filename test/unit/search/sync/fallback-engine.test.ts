import { expect, test } from 'vitest';
import type { SearchEngine, SearchFacets, SearchHits, Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { createFallbackEngine, type FallbackEngineOptions } from '#search/sync/fallback-engine.ts';

const tipAt = (height: number): NonNullable<Snapshot['tip']> => ({
  height: asHeight(height),
  hash: asBlockHash(new Uint8Array(32)),
  undoEpoch: 0,
});
const snapshot = { tip: tipAt(100) } as Snapshot;
const query = { corpus: 'content', needles: ['a'], page: 1, itemsPerPage: 1 } as const;

interface Server {
  readonly engine: SearchEngine;
  asked: number;
  height: number;
  fails: ErrorCode | null;
}

function serverAt(height: number): Server {
  const server = {
    asked: 0,
    height,
    fails: null as ErrorCode | null,
    engine: {} as SearchEngine,
  };
  const answer = async (): Promise<SearchHits> => {
    server.asked++;
    if (server.fails !== null) throw new AppError(server.fails, 'it fails');
    return { keys: [], totalItems: server.height, tip: tipAt(server.height) };
  };
  const counted = async (): Promise<SearchFacets> => ({
    ...(await answer()),
    types: [],
    otherTypes: 0,
    days: [],
  });
  server.engine = {
    name: 'server',
    searchText: answer,
    searchHash: answer,
    facetsOfText: counted,
    facetsOfHash: counted,
    close: async () => undefined,
  };
  return server;
}

function setUp(given: Partial<FallbackEngineOptions> = {}): {
  first: Server;
  fallback: Server;
  changes: (string | null)[];
  ask: () => Promise<number>;
  clock: { ms: number };
} {
  const first = serverAt(100);
  const fallback = serverAt(1);
  const changes: (string | null)[] = [];
  const clock = { ms: 0 };
  const engine = createFallbackEngine({
    first: first.engine,
    fallback: fallback.engine,
    lagMaxBlocks: 3,
    onChange: (problem) => changes.push(problem?.code ?? null),
    now: () => clock.ms,
    ...given,
  });
  const ask = async (): Promise<number> => (await engine.searchText(snapshot, query)).totalItems;
  return { first, fallback, changes, ask, clock };
}

test('the fallback answers while the first one fails, and every change is told once', async () => {
  const { first, ask, changes } = setUp();
  expect(await ask()).toBe(100);
  first.fails = 'search_engine_missing';
  expect([await ask(), await ask()]).toEqual([1, 1]);
  first.fails = 'search_engine_behind';
  expect(await ask()).toBe(1);
  first.fails = null;
  expect([await ask(), await ask()]).toEqual([100, 100]);
  expect(changes).toEqual(['search_engine_missing', 'search_engine_behind', null]);
});

test('one that is behind by more than the bound does not answer', async () => {
  const { first, ask, changes } = setUp();
  first.height = 97;
  expect(await ask()).toBe(97);
  first.height = 96;
  expect(await ask()).toBe(1);
  expect(changes).toEqual(['search_engine_behind']);
});

test('one that does not answer is left alone for two seconds, and then asked by one search', async () => {
  const { first, ask, clock } = setUp();
  for (const code of ['search_engine_unreachable', 'search_engine_slow', 'search_engine_busy'] as const) {
    first.fails = code;
    first.asked = 0;
    for (let turn = 0; turn < 5; turn++) expect(await ask()).toBe(1);
    expect(first.asked).toBe(1);
    clock.ms += 1999;
    await ask();
    expect(first.asked).toBe(1);
    clock.ms += 1;
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
    expect(first.asked).toBe(2);
    first.fails = null;
    clock.ms += 2000;
    expect(await ask()).toBe(100);
  }
});

test('without a fallback the failure is thrown, and whatever is no failure of the server always is', async () => {
  const alone = setUp({ fallback: null });
  alone.first.fails = 'search_engine_full';
  await expect(alone.ask()).rejects.toMatchObject({ code: 'search_engine_full' });
  alone.first.fails = null;
  alone.first.height = 10;
  await expect(alone.ask()).rejects.toMatchObject({ code: 'search_engine_behind' });
  const both = setUp();
  both.first.fails = 'postgres_lost';
  await expect(both.ask()).rejects.toMatchObject({ code: 'postgres_lost' });
  expect(both.fallback.asked).toBe(0);
});

test('a server that hangs until clients give up rests too, and one whose client left at once does not', async () => {
  const { first, fallback, changes, clock } = setUp();
  const gone = new Error('gone');
  const asked = { ...snapshot, signal: AbortSignal.abort(gone) };
  const hangs = (ms: number): SearchEngine => ({
    ...first.engine,
    searchText: () => {
      clock.ms += ms;
      return Promise.reject(gone);
    },
  });
  const engineOf = (ms: number) =>
    createFallbackEngine({
      first: hangs(ms),
      fallback: fallback.engine,
      lagMaxBlocks: 3,
      onChange: (problem) => changes.push(problem?.code ?? null),
      now: () => clock.ms,
    });
  await expect(engineOf(9000).searchText(asked, query)).rejects.toBe(gone);
  expect(changes).toEqual([]);
  const engine = engineOf(11_000);
  await expect(engine.searchText(asked, query)).rejects.toBe(gone);
  expect(changes).toEqual(['search_engine_slow']);
  expect((await engine.searchText(snapshot, query)).totalItems).toBe(1);
});

test('what an index was missing is over once it was seen whole, and what only a search can tell is not', async () => {
  const server = serverAt(100);
  const told: (string | null)[] = [];
  const engine = createFallbackEngine({
    first: server.engine,
    fallback: null,
    lagMaxBlocks: 2,
    onChange: (problem) => told.push(problem?.code ?? null),
  });
  for (const [code, isOver] of [
    ['search_engine_missing', true],
    ['search_engine_slow', false],
  ] as const) {
    server.fails = code;
    await engine.searchText(snapshot, query).catch(() => undefined);
    expect(engine.problem()?.code).toBe(code);
    engine.seeWhole();
    expect(engine.problem()?.code ?? null).toBe(isOver ? null : code);
  }
  expect(told).toEqual(['search_engine_missing', null, 'search_engine_slow']);
});

test('what is too much for one engine is asked of the other, and says nothing of the server', async () => {
  const server = serverAt(100);
  const postgres = serverAt(99);
  const engine = createFallbackEngine({ first: server.engine, fallback: postgres.engine, lagMaxBlocks: 2 });
  server.fails = 'search_too_broad';
  expect((await engine.searchText(snapshot, query)).totalItems).toBe(99);
  expect(engine.problem()).toBeNull();
});

test('a search by hash is answered if no engine answers searches by text in its place', async () => {
  const first = serverAt(100);
  const byHash = serverAt(7);
  const engine = createFallbackEngine({
    first: first.engine,
    fallback: null,
    hashFallback: byHash.engine,
    lagMaxBlocks: 3,
  });
  const hash = { hash: new Uint8Array(32), page: 1, itemsPerPage: 1 };
  expect((await engine.searchHash(snapshot, hash)).totalItems).toBe(100);
  first.fails = 'search_engine_unreachable';
  expect((await engine.searchHash(snapshot, hash)).totalItems).toBe(7);
  await expect(engine.facetsOfHash(snapshot, hash)).resolves.toBeDefined();
  await expect(engine.searchText(snapshot, query)).rejects.toMatchObject({
    code: 'search_engine_unreachable',
  });
});

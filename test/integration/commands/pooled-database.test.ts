import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectClient } from '#kernel/pg/pool.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Pgbouncer, pgbouncerForTests, startPgbouncer } from '#test/support/postgres/pgbouncer.ts';
import { type CliProcess, startCli } from '#test/support/run-cli.ts';

const pgbouncer = pgbouncerForTests();

/** Settings of a database like those of some operators. */
const awkward = {
  datestyle: 'German, DMY',
  standard_conforming_strings: 'off',
  client_encoding: 'LATIN1',
  array_nulls: 'off',
  timezone: 'Asia/Kathmandu',
  statement_timeout: '60s',
};

let database: TestDatabase;
const processes: CliProcess[] = [];
const poolers: Pgbouncer[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const administrator = await connectClient(database.superuserUrl);
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(awkward))
    await administrator.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  await administrator.end();
});
afterAll(() => database.drop());
afterEach(async () => {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await Promise.all(poolers.splice(0).map((pooler) => pooler.stop()));
});

/** Starts a service with one account for everything. A pooler has 20 connections for this account. */
function serve(url: string): CliProcess {
  const words = ['serve', '--blocks', 'samples/regtest', '--port', '0'];
  const started = startCli(words, { DATABASE_URL: url });
  processes.push(started);
  return started;
}

async function through(mode: 'session' | 'transaction'): Promise<string> {
  if (pgbouncer === null) return database.url;
  const pooler = await startPgbouncer(pgbouncer, mode, [database.url]);
  poolers.push(pooler);
  return pooler.through(database.url);
}

describe('a service whose database has other settings, through a pooler if there is one', () => {
  test('is ready, and answers as with the usual ones', async () => {
    const [, at = ''] = await serve(await through('session')).seen(/^ready (http:\S+)\n/u);
    const get = (path: string): Promise<Response> => fetch(new URL(path, at));
    expect((await get('/health/ready')).status).toBe(200);
    const search = await get('/search?text=a');
    expect(search.status).toBe(200);
    const { results } = (await search.json()) as { results: { inscriptionid: string }[] };
    expect(results.length).toBeGreaterThan(0);
    // more searches at once than the pool of readers has connections
    const many = Array.from({ length: 30 }, (_, place) =>
      get(`/search?text=${String.fromCharCode(97 + (place % 26))}`),
    );
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
    const contents: number[] = [];
    for (const { inscriptionid } of results) {
      contents.push((await get(`/content/${inscriptionid}`)).status);
      expect((await get(`/indexer/inscription?id=${inscriptionid}`)).status).toBe(200);
    }
    // 406 means that the content is stored in an encoding that the client does not accept
    expect(contents.filter((status) => status !== 200 && status !== 406)).toEqual([]);
    expect(contents).toContain(200);
  });
});

test.skipIf(pgbouncer === null)(
  'through a pooler by transactions it does not start, and says why',
  async () => {
    const { exitCode, stderr } = await serve(await through('transaction')).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^satscribe: Postgres at \S+ is reached through a pooler that shares connections/u,
    );
    expect(stderr).toContain('postgres_pooled');
    expect(stderr).toContain('pool_mode = session');
  },
);

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';
import { type CliProcess, type CliResult, runCli, startCli } from '#test/support/run-cli.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const blocks = ['--blocks', 'samples/regtest'];
let indexed: FilledDatabase;
let database: TestDatabase;
const processes: CliProcess[] = [];

beforeAll(async () => {
  indexed = await createFilledDatabase(async ({ url }) => {
    expect((await runCli(['index', ...blocks], { DATABASE_URL: url })).exitCode).toBe(0);
  });
});
beforeEach(async () => {
  database = await indexed.clone();
});
afterEach(async () => {
  await endAll();
  await database.drop();
});
afterAll(() => indexed.drop());

async function endAll(): Promise<void> {
  for (const { child, ended } of processes.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
}

const rollback = (...words: string[]): Promise<CliResult> =>
  runCli(['rollback', ...words], { DATABASE_URL: database.url });

async function tip(): Promise<number | null> {
  const { rows } = await database.pool.query<{ tip: number }>('SELECT tip_height AS tip FROM chain.state');
  return rows[0]?.tip ?? null;
}

async function serve(): Promise<void> {
  const service = startCli(['serve', '--port', '0', ...blocks], { DATABASE_URL: database.url });
  processes.push(service);
  await service.seen(/^ready \S+\n$/u);
}

test('takes back blocks with --yes, and asks nothing if there is nothing to take back', async () => {
  const before = (await tip()) ?? 0;
  const refused = await rollback('--to', '5');
  expect({ exitCode: refused.exitCode, tip: await tip() }).toEqual({ exitCode: 2, tip: before });
  expect(refused.stderr).toContain(`all blocks above 5; the last indexed block is ${before} of regtest`);
  expect(refused.stderr).toContain('--yes');
  const none = await rollback('--to', String(before));
  expect(JSON.parse(none.stdout)).toMatchObject({ blocks: 0, height: before });
  const done = await rollback('--to', '5', '--yes');
  expect(JSON.parse(done.stdout)).toMatchObject({ blocks: before - 5, height: 5 });
  expect(await tip()).toBe(5);
});

test('is refused beside a service whose folder is indexed, even after that service lost its connections', async () => {
  const before = await tip();
  await serve();
  const refuses = async (): Promise<void> => {
    const refused = await rollback('--to', '5', '--yes');
    expect(refused.stderr).toContain('database_busy');
    expect({ exitCode: refused.exitCode, tip: await tip() }).toEqual({ exitCode: 1, tip: before });
  };
  await refuses();
  const holder = async (): Promise<number | null> => {
    const { rows } = await database.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7700108 AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rows[0]?.pid ?? null;
  };
  const first = await holder();
  expect(first).not.toBeNull();
  await database.pool.query('SELECT pg_terminate_backend($1)', [first]);
  await waitUntil(async () => {
    const now = await holder();
    return now !== null && now !== first;
  });
  await refuses();
  await endAll();
  expect((await rollback('--to', '5', '--yes')).exitCode).toBe(0);
});

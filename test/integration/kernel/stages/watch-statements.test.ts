import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectClient, connectPipelined, createPool } from '#kernel/pg/pool.ts';
import { stageClock } from '#kernel/stages/span.ts';
import { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import type { StageRow } from '#kernel/stages/stage-sums.ts';
import { watchStatements } from '#kernel/stages/watch-statements.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

/** A statement that takes about 100 ms of the server's processor time. */
const long = 'SELECT count(*) FROM generate_series(1, 600000)';
const short = 'ANALYZE pg_catalog.pg_class';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await asSuperuser("CREATE ROLE stages_guest LOGIN PASSWORD 'guest'");
});
afterAll(async () => {
  await asSuperuser('DROP ROLE stages_guest');
  await database.drop();
});

async function asSuperuser(statement: string): Promise<void> {
  const superuser = await connectClient(database.superuserUrl);
  await superuser.query(statement);
  await superuser.end();
}

let recorder: StageRecorder;
let client: pg.Client;
let pool: pg.Pool;
async function connect(url: string): Promise<void> {
  recorder = new StageRecorder({ event: () => undefined, close: () => undefined });
  pool = createPool(url);
  watchStatements(pool, recorder, true);
  client = await connectPipelined(pool);
}
afterEach(async () => {
  await client.end();
  await pool.end();
});

function row(stage: string): StageRow {
  const found = recorder.sums().rows.find((each) => each.stage === stage);
  if (found === undefined) throw new Error(`${stage} was not recorded`);
  return found;
}

/** How long the answers of a server are left unread, in ms: six times as long as `long` takes on a quiet machine. */
const lateMs = 600;

/** Sends statements at once, and computes something for `blockedMs` before it reads their answers. */
async function runLate(
  statements: readonly (string | { text: string; values: unknown[] })[],
  blockedMs = lateMs,
): Promise<void> {
  const answers = statements.map((each) => client.query(each));
  // the statements are sent, and the server has begun
  await new Promise((resolve) => setImmediate(resolve));
  const until = stageClock() + blockedMs;
  while (stageClock() < until);
  await Promise.all(answers);
}

describe('statements whose answers are read late, and at once', () => {
  beforeEach(() => connect(database.url));

  test('each have the time that the server took for them', async () => {
    await runLate([short, long, short]);
    const [few, many] = [row('analyze'), row('sealing, statements')];
    expect([few.count, many.count]).toEqual([2, 1]);
    expect(many.cpuMs).toBeGreaterThan(20);
    expect(few.cpuMs).toBeLessThan(many.cpuMs! / 2);
    expect(few.ms).toBeLessThan(many.ms / 2);
  });

  test('do not have the time in which their answers wait to be read', async () => {
    // a busy server may need longer than the answers wait: then they wait twice as long
    for (let blockedMs = lateMs; blockedMs <= 16 * lateMs; blockedMs *= 2) {
      const before = recorder.sums().rows.find(({ stage }) => stage === 'sealing, statements')?.ms ?? 0;
      await runLate([long], blockedMs);
      if (row('sealing, statements').ms - before < blockedMs * 0.9) return;
    }
    expect.fail('the time of a statement was always that in which its answer waited');
  });

  test('count also what is parsed and bound', async () => {
    await runLate([{ text: `${long} WHERE $1`, values: [true] }]);
    expect(row('sealing, statements')).toMatchObject({ count: 1, rows: 1 });
    expect(row('sealing, statements').cpuMs).toBeGreaterThan(20);
  });

  test('are no longer reported, and logged as before, after the recording', async () => {
    await client.query(short);
    recorder.end();
    await client.query(long);
    const notices: unknown[] = [];
    client.on('notice', (notice) => notices.push(notice));
    const { rows } = await client.query<{ log_min_messages: string }>('SHOW log_min_messages');
    expect([rows[0]?.log_min_messages, notices]).toEqual(['warning', []]);
    expect(recorder.sums().rows.map(({ stage }) => stage)).not.toContain('sealing, statements');
  });
});

describe('if the server refuses to report', () => {
  beforeEach(() => {
    const url = new URL(database.url);
    [url.username, url.password] = ['stages_guest', 'guest'];
    return connect(url.href);
  });

  test('answers read at once share their time by the bytes that they sent', async () => {
    await runLate([short, { text: 'SELECT length($1::text)', values: ['x'.repeat(9000)] }]);
    const [few, many] = [row('analyze'), row('sealing, statements')];
    expect([few.cpuMs, many.cpuMs]).toEqual([null, null]);
    expect(few.count + many.count).toBe(2);
    expect(few.ms).toBeLessThan(many.ms / 20);
    expect(few.ms + many.ms).toBeGreaterThan(lateMs * 0.98);
  });
});

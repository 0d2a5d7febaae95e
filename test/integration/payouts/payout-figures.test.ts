import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '#kernel/reports/metrics.ts';
import { readDatabase } from '#src/app/reports/database-metrics.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** Lines of /metrics about payouts, from a process that only answers requests. */
async function figures(): Promise<Record<string, number>> {
  const failed: string[] = [];
  const metrics = createMetrics((name) => failed.push(name));
  readDatabase(metrics, database.readers, false);
  const { text } = await metrics.render();
  expect(failed.filter((name) => name.includes('payouts'))).toEqual([]);
  const lines = text.split('\n').filter((line) => line.startsWith('satscribe_payouts'));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value] = line.split(' ');
      return [name.slice('satscribe_payouts'.length), Number(value)];
    }),
  );
}

test('metrics have the number of waiting payouts, the number of stuck ones, and the age of the oldest', async () => {
  const none = { '{state="asked"}': 0, '{state="signed"}': 0, '{state="sent"}': 0, _stuck: 0 };
  expect(await figures()).toEqual(none);
  await database.pool.query(
    `INSERT INTO service.payouts (kind, state, asked_at, stuck)
     SELECT 'referral', state, now() - age::interval, stuck
       FROM (VALUES ('asked', '1 hour', 'no coin is free'), ('asked', '1 minute', NULL), ('sent', '2 hours', NULL),
                    ('mined', '1 day', NULL), ('settled', '2 days', NULL), ('cancelled', '3 days', NULL))
            AS given (state, age, stuck)`,
  );
  const { _oldest_seconds: oldest, ...counts } = await figures();
  expect(counts).toEqual({ ...none, '{state="asked"}': 2, '{state="sent"}': 1, _stuck: 1 });
  // payouts that are in blocks do not wait
  expect(Math.floor((oldest ?? 0) / 60)).toBe(120);
});

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { startReceiver } from '#test/support/webhooks/receiver.ts';
import { type Sending, startSending, within } from '#test/support/webhooks/sending.ts';
import { putWebhooks, replayWebhooks } from '#webhooks/outbox.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

let template: FilledDatabase;
beforeAll(async () => {
  template = await createFilledDatabase(() => Promise.resolve());
});
afterAll(async () => {
  await template.drop();
});

const subjects = 4;
const subject = fc.nat(subjects - 1);
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), subject, count: fc.integer({ min: 1, max: 4 }) }),
  // two of the subjects share a host
  fc.record({
    kind: fc.constant('answer' as const),
    host: fc.nat(2),
    status: fc.constantFrom(200, 204, 404, 500),
  }),
  fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(3, 6, 40, 4000) }),
  fc.record({ kind: fc.constant('restart' as const), process: fc.nat(1) }),
  fc.record({ kind: fc.constant('replay' as const), subject, from: fc.integer({ min: 1, max: 6 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Executes the steps, waits until every message has arrived, and checks what arrived. */
async function run(database: TestDatabase, steps: readonly Step[]): Promise<void> {
  const statuses = [200, 200, 200];
  /** Sequences of all requests, by subject. */
  const asked = new Map<string, number[]>();
  const open = new Set<string>();
  const doubled: string[] = [];
  const receiver = await startReceiver(({ host, target, headers }, response) => {
    if (open.has(target)) doubled.push(target);
    open.add(target);
    const list = asked.get(target) ?? [];
    asked.set(target, [...list, Number(headers['x-satscribe-sequence'])]);
    setImmediate(() => {
      open.delete(target);
      response.writeHead(statuses[Number(host.slice(1, 2))] ?? 200).end();
    });
  });
  const sendings: Sending[] = [startSending(database), startSending(database)];
  const names = Array.from({ length: subjects }, (_, index) => `order ${index}`);
  const addressOf = (index: number) => ({
    subject: names[index]!,
    url: `http://h${index % 3}.test:${receiver.port}/${index}`,
  });
  /** Whether nothing is due by the clocks of the processes, and nothing is being tried. */
  let aheadMs = 0;
  const isQuiet = () =>
    waitUntil(async () => {
      const { rowCount } = await database.pool.query(
        `SELECT FROM service.webhook_subjects
          WHERE taken_by IS NOT NULL OR due_at <= now() + $1::float8 * interval '1 millisecond'`,
        [aheadMs],
      );
      return rowCount === 0;
    });
  const pass = async (milliseconds: number): Promise<void> => {
    // no lease may end during a try, because the process of the try lives
    await isQuiet();
    aheadMs += milliseconds;
    await Promise.all(sendings.map((each) => each.pass(milliseconds)));
  };
  let replays = 0;
  let put = 0;
  try {
    for (const each of steps) {
      if (each.kind === 'put') {
        put += each.count;
        const bodies = Array.from({ length: each.count }, (_, n) => ({ n }));
        await within(database, (tx) => putWebhooks(tx, addressOf(each.subject), bodies));
      } else if (each.kind === 'answer') {
        statuses[each.host] = each.status;
      } else if (each.kind === 'pass') {
        await pass(each.seconds * 1000);
      } else if (each.kind === 'restart') {
        await sendings[each.process]!.stop();
        sendings[each.process] = startSending(database, { aheadMs });
      } else {
        const replayed = await within(database, (tx) => replayWebhooks(tx, names[each.subject]!, each.from));
        if (replayed > 0) replays++;
      }
    }
    statuses.fill(200);
    for (let round = 0; round < subjects; round++) await pass(11_000_000);
    await isQuiet();
    let told = 0;
    for (const [index, name] of names.entries()) {
      const all = await readWebhooks(database.pool, name, 0, 1000);
      told += all.length;
      expect(all.map(({ state }) => state)).toEqual(all.map(() => 'delivered'));
      const sequences = asked.get(`/${index}`) ?? [];
      // every message arrived, and the first arrivals are in the order of the outbox
      expect([...new Set(sequences)]).toEqual(all.map(({ sequence }) => sequence));
      // A message follows itself or the message before it. A replay goes back, and omits messages that are being sent.
      const back = sequences.filter((sequence, at) => at > 0 && sequence < sequences[at - 1]!).length;
      expect(back).toBeLessThanOrEqual(replays);
      const ahead = sequences.filter((sequence, at) => sequence > (sequences[at - 1] ?? 0) + 1);
      expect(ahead.length).toBeLessThanOrEqual(replays);
    }
    expect(told).toBe(put);
    expect(doubled).toEqual([]);
  } finally {
    await Promise.all(sendings.map((each) => each.stop()));
    await receiver.close();
  }
}

test('whatever receivers answer and processes do, each message arrives, in its order, never twice at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const database = await template.clone();
      try {
        await run(database, steps);
      } finally {
        await database.drop();
      }
    }),
    { numRuns: propertyRuns(8) },
  );
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { within } from '#test/support/webhooks/sending.ts';
import { readFindings } from '#watches/store/findings.store.ts';
import {
  type ChangedWatches,
  type FoundState,
  keepNewest,
  tellChanges,
  writeStates,
} from '#watches/store/write-findings.ts';
import { subjectOf, type Watch } from '#watches/watch.ts';
import { replayWebhooks } from '#webhooks/outbox.ts';
import { readWebhooks } from '#webhooks/webhooks.queries.ts';

let database: TestDatabase;
let key: number;
beforeAll(async () => {
  database = await createTestDatabase();
  key = await newKey(database.pool);
});
afterAll(() => database.drop());

const watch = (): Promise<Watch> =>
  newWatch(database.pool, key, 'search', { text: 'brc-20', webhookUrl: 'https://example.com/hook' });

/** Stores and tells new things of a watch, as a round does. */
const find = (of: Watch, from: number, count: number): Promise<void> =>
  within(database, async (tx) => {
    const changed: ChangedWatches = new Map();
    const states = Array.from({ length: count }, (_, nth): FoundState => {
      const txid = Buffer.alloc(32);
      txid.writeUInt32LE(from + nth);
      const thing = `thing ${from + nth}`;
      return { watchId: of.id, thing, state: 'pending', txid, block: null, replacedBy: null, facts: {} };
    });
    for (let nth = 0; nth < count; nth += 5_000)
      await writeStates(tx, states.slice(nth, nth + 5_000), changed);
    await keepNewest(tx, changed);
    await tellChanges(tx, changed);
  });

interface Told {
  readonly number: number;
  readonly findings: readonly { readonly number: number }[];
  readonly more: number;
}
const messagesOf = async (of: Watch): Promise<Told[]> =>
  (await readWebhooks(database.pool, subjectOf(of), 0, 100)).map(({ body }) => JSON.parse(body) as Told);
const numbersOf = (told: readonly Told[]): unknown[] =>
  told.map(({ number, findings, more }) => [number, findings.map((finding) => finding.number), more]);

test('while three messages wait, the last one stands for all later changes', async () => {
  const of = await watch();
  for (let nth = 0; nth < 3; nth++) await find(of, nth * 2, 2);
  const first = [
    [2, [1, 2], 0],
    [4, [3, 4], 0],
  ];
  expect(numbersOf(await messagesOf(of))).toEqual([...first, [6, [5, 6], 0]]);
  await find(of, 6, 1);
  await find(of, 7, 150);
  const told = await messagesOf(of);
  expect(numbersOf(told)).toEqual([...first, [157, [5, 6], 151]]);
  // a reader who continues after the findings of the message sees exactly the further changes
  const after = told[2]?.findings.at(-1)?.number ?? 0;
  const rest = await readFindings(database.pool, of.id, { after, limit: 1000 });
  expect(rest.findings).toHaveLength(told[2]?.more ?? 0);
  expect(rest.lastNumber).toBe(told[2]?.number);
  // the receiver works again: the next change has its own message
  await database.pool.query(
    `UPDATE service.webhooks SET state = 'delivered', tried_at = now() WHERE subject = $1 AND sequence = 1`,
    [subjectOf(of)],
  );
  await database.pool.query('UPDATE service.webhook_subjects SET head_sequence = 2 WHERE subject = $1', [
    subjectOf(of),
  ]);
  await find(of, 157, 1);
  expect(numbersOf(await messagesOf(of)).at(-1)).toEqual([158, [158], 0]);
});

test('the newest 100 sent messages of a watch are kept, and a waiting message is not deleted', async () => {
  const of = await watch();
  const subject = subjectOf(of);
  const sent = async (): Promise<void> => {
    await database.pool.query(
      `UPDATE service.webhooks SET state = 'delivered', tried_at = now() WHERE subject = $1`,
      [subject],
    );
    await database.pool.query(
      `UPDATE service.webhook_subjects SET head_sequence = NULL, host = NULL, due_at = NULL WHERE subject = $1`,
      [subject],
    );
  };
  for (let nth = 0; nth < 102; nth++) {
    await find(of, nth, 1);
    await sent();
  }
  const sequences = async (): Promise<number[]> =>
    (await readWebhooks(database.pool, subject, 0, 200)).map(({ sequence }) => sequence);
  expect(await sequences()).toEqual(Array.from({ length: 100 }, (_, nth) => nth + 3));
  // the operator sends the oldest message again
  await within(database, (tx) => replayWebhooks(tx, subject, 3));
  await database.pool.query(
    `UPDATE service.webhooks SET state = 'delivered' WHERE subject = $1 AND sequence > 3`,
    [subject],
  );
  await find(of, 102, 1);
  expect(await sequences()).toEqual(Array.from({ length: 101 }, (_, nth) => nth + 3));
});

test('watches with and without waiting messages are told in one round', async () => {
  const [crowded, other] = [await watch(), await watch()];
  for (let nth = 0; nth < 3; nth++) await find(crowded, nth, 1);
  await within(database, async (tx) => {
    const changed: ChangedWatches = new Map();
    const state = {
      state: 'pending',
      txid: Buffer.alloc(32),
      block: null,
      replacedBy: null,
      facts: {},
    } as const;
    await writeStates(
      tx,
      [crowded, other].map(({ id }) => ({ ...state, watchId: id, thing: 'both' })),
      changed,
    );
    await tellChanges(tx, changed);
  });
  expect(numbersOf(await messagesOf(crowded))).toEqual([
    [1, [1], 0],
    [2, [2], 0],
    [4, [3], 1],
  ]);
  expect(numbersOf(await messagesOf(other))).toEqual([[1, [1], 0]]);
});

test('a flood keeps the newest 10,000 findings at most, and its message stands for these', async () => {
  const of = await watch();
  await find(of, 0, 12_500);
  const [told] = await messagesOf(of);
  const kept = await readFindings(database.pool, of.id, { after: 0, limit: 1 });
  expect(kept).toMatchObject({ lastNumber: 12_500, findings: [{ number: 3_501 }] });
  expect(told).toMatchObject({ number: 12_500, more: 8_900 });
  expect(told?.findings[0]?.number).toBe(3_501);
  expect(told?.findings).toHaveLength(100);
  // nothing is deleted until a thousand further changes
  await find(of, 12_500, 499);
  const { rows } = await database.pool.query<{ count: number }>(
    'SELECT count(*) AS count FROM service.watch_findings WHERE watch_id = $1',
    [of.id],
  );
  expect(rows).toEqual([{ count: 9_499 }]);
  await find(of, 12_999, 1);
  expect(await readFindings(database.pool, of.id, { after: 0, limit: 1 })).toMatchObject({
    findings: [{ number: 4_001 }],
  });
});

import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPendingEtchings } from '#chain/arrivals/arrived-runes.queries.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { fillProperties } from '#test/support/chain/rows/property-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  testTxid,
  text,
} from '#test/support/search/search-rows.ts';
import { findingsOf, newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { LeavingFindings } from '#watches/following/settle-findings.ts';
import { WatchesSession } from '#watches/following/watches-session.ts';
import { readWatchesStanding } from '#watches/store/watches-offset.store.ts';
import { type FoundState, writeStates } from '#watches/store/write-findings.ts';
import type { Watch } from '#watches/watch.ts';

let database: TestDatabase;
let rows: SearchRows;
let client: pg.Client;
let reader: pg.Client;
let session: WatchesSession;
let watch: Watch;
let messages: { readonly watchId: string; readonly state: string; readonly number: number }[];

const found: TestInscription = { content: text('an apple'), metadata: null };
const other: TestInscription = { content: text('a lemon'), metadata: null };
const idOf = (key: number): string => formatInscriptionId(asTxid(testTxid(key)), 0);

beforeEach(async () => {
  database = await createTestDatabase();
  messages = [];
  rows = await createSearchRows(database.pool);
  client = await connectClient(database.url, 'writes');
  reader = await connectClient(database.url, 'reads');
  await rows.addBlock([other]);
  await newSession();
  watch = await newWatch(database.pool, await newKey(database.pool), 'search', {
    text: 'apple',
    webhookUrl: 'https://example.com/hook',
  });
  await rounds();
});
afterEach(async () => {
  await client.end();
  await reader.end();
  await database.drop();
});

/** Follows as a new process does. */
async function newSession(): Promise<void> {
  const readCollections = async (_: unknown, ids: readonly unknown[]): Promise<null[]> => ids.map(() => null);
  session = new WatchesSession({ client, reader, network: networks.regtest, readCollections });
  await session.load();
}

/** Rounds until nothing is left to match. The first round may only load the watches again. */
async function rounds(): Promise<void> {
  for (let nth = 0; nth < 2; nth++) while (await session.round());
  await takeMessages();
}

/** Takes back the blocks above a height. */
const undoAbove = (height: number): Promise<void> => rows.undoAbove(height, async () => undefined);

const hashAt = async (height: number): Promise<string> => {
  const { rows: blocks } = await database.pool.query<{ hash: Buffer }>(
    'SELECT hash FROM chain.blocks WHERE height = $1',
    [height],
  );
  return Buffer.from(blocks[0]!.hash).reverse().toString('hex');
};

/** The changes that were told by webhook, as states and numbers. */
const told = ({ id } = watch): [state: string, number: number][] =>
  messages.filter(({ watchId }) => watchId === id).map(({ state, number }) => [state, number]);

/** Takes messages out of the outbox, so that no message waits for an earlier one. */
async function takeMessages(): Promise<void> {
  const { rows: taken } = await database.pool.query<{ sequence: number; body: Buffer }>(
    'DELETE FROM service.webhooks RETURNING sequence, body',
  );
  for (const { body } of taken.toSorted((one, two) => one.sequence - two.sequence)) {
    const { id, findings } = JSON.parse(body.toString()) as {
      id: string;
      findings: { state: string; number: number }[];
    };
    for (const { state, number } of findings) messages.push({ watchId: id, state, number });
  }
}

/** The states of pending findings that have left, of all pages. */
async function statesAt(
  leaving: LeavingFindings,
  moment: { readonly now: number; readonly hasAll: boolean; readonly isMatched: () => Promise<boolean> },
): Promise<FoundState[]> {
  const all: FoundState[] = [];
  for await (const states of leaving.statesAt(client, reader, moment)) all.push(...states);
  return all;
}

test('a block between the first watch and the first round of all is matched', async () => {
  await database.pool.query('DELETE FROM service.watches_offset');
  await newSession();
  await rows.addBlock([found]);
  await rounds();
  expect(await findingsOf(database.pool, watch)).toMatchObject([
    { thing: idOf(1), state: 'confirmed', height: 1 },
  ]);
});

test('blocks before the first watch are not matched', async () => {
  await rows.addBlock([found]);
  await database.pool.query('DELETE FROM service.watches_offset');
  await newSession();
  const later = await newWatch(database.pool, await newKey(database.pool), 'search', { text: 'apple' });
  await database.pool.query('DELETE FROM service.watches WHERE id <> $1', [later.id]);
  await rounds();
  expect(await findingsOf(database.pool, later)).toEqual([]);
});

test('a finding whose transaction is in the new block of a reorganisation is told once, with this block', async () => {
  await rows.addBlock([found]);
  await rounds();
  await undoAbove(0);
  await rows.addBlock([found]);
  await rounds();
  expect(await findingsOf(database.pool, watch)).toMatchObject([
    { thing: idOf(1), state: 'confirmed', number: 2, height: 1, blockHash: await hashAt(1) },
  ]);
  // a round between both blocks waits for the new block
  await undoAbove(0);
  await rounds();
  await rows.addBlock([found]);
  await rounds();
  expect(told()).toEqual([
    ['confirmed', 1],
    ['confirmed', 2],
    ['confirmed', 3],
  ]);
  expect(await findingsOf(database.pool, watch)).toMatchObject([{ blockHash: await hashAt(1) }]);
});

test('a finding that is in a later block of the new branch is not told before that block', async () => {
  await rows.addBlock([found]);
  await rows.addBlock([]);
  await rounds();
  await undoAbove(0);
  await rows.addBlock([]);
  await rounds();
  await rows.addBlock([]);
  await rounds();
  // the branch is as high as the old branch, and the transaction is not in it
  expect(told()).toEqual([
    ['confirmed', 1],
    ['reorganised', 2],
  ]);
  await rows.addBlock([found]);
  await rounds();
  expect(told()).toHaveLength(3);
});

test('a finding whose block was undone is reorganised, or pending if its transaction is in the mempool', async () => {
  await rows.addBlock([found, found]);
  await rounds();
  const undone = await hashAt(1);
  await setPending(database.pool, [pendingRows(testTxid(2), 1, found)]);
  await undoAbove(0);
  await rows.addBlock([]);
  await rounds();
  const states = Object.fromEntries((await findingsOf(database.pool, watch)).map((one) => [one.thing, one]));
  expect(states).toMatchObject({
    [idOf(1)]: { state: 'reorganised', height: 1, blockHash: undone },
    [idOf(2)]: { state: 'pending', height: null, blockHash: null },
  });
  expect(told()).toHaveLength(4);
});

test('a process that ends between an undone block and its successor settles nothing twice, and forgets nothing', async () => {
  await rows.addBlock([found]);
  await rows.addBlock([found]);
  await rounds();
  await undoAbove(0);
  await rounds();
  await newSession();
  await rows.addBlock([found]);
  await rows.addBlock([]);
  await rounds();
  expect(await findingsOf(database.pool, watch)).toMatchObject([
    { thing: idOf(1), state: 'confirmed', number: 3 },
    { thing: idOf(2), state: 'reorganised', number: 4 },
  ]);
  expect(told()).toHaveLength(4);
});

test('an index that is rebuilt with another branch moves findings to its blocks, and watches continue', async () => {
  await rows.addBlock([found]);
  await rows.addBlock([found]);
  await rounds();
  await rows.clear();
  await database.pool.query('DELETE FROM chain.outbox');
  await database.pool.query('UPDATE chain.state SET fingerprint_key = $1', [randomBytes(32)]);
  await rows.addBlock([other]);
  await rounds();
  expect(told()).toHaveLength(2);
  await rows.addBlock([found]);
  await rows.addBlock([]);
  await rounds();
  expect(await findingsOf(database.pool, watch)).toMatchObject([
    { thing: idOf(1), state: 'confirmed', height: 1, blockHash: await hashAt(1) },
    { thing: idOf(2), state: 'reorganised' },
  ]);
  await rows.addBlock([other, found]);
  await rounds();
  expect((await findingsOf(database.pool, watch)).map(({ thing, state }) => [thing, state])).toContainEqual([
    idOf(3),
    'confirmed',
  ]);
});

test('watches of another index whose blocks were never matched match from its next block on', async () => {
  await database.pool.query('UPDATE service.watches SET since = 500');
  await database.pool.query(
    `UPDATE service.watches_offset SET index_identity = 'other', sequence = 500, height = -1`,
  );
  await newSession();
  await rounds();
  await rows.addBlock([found]);
  await rounds();
  expect(told()).toEqual([['confirmed', 1]]);
});

test('blocks that were matched without rows of a derived table are matched again once the table has them', async () => {
  await database.pool.query(
    `INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('properties', 0, false)
     ON CONFLICT (name) DO UPDATE SET is_followed = false`,
  );
  const titled = await newWatch(database.pool, watch.keyId, 'search', {
    title: 'orchard',
    webhookUrl: 'https://example.com/hook',
  });
  await rounds();
  const piece = { ...other, properties: '{"attributes":{"title":"The Orchard"}}' };
  // blocks of odd heights have no rows of properties, like blocks above a table that is behind
  await rows.addBlock([piece]);
  await rows.addBlock([other]);
  await rows.addBlock([piece]);
  await rounds();
  expect(told(titled)).toEqual([]);
  await newSession();
  await fillProperties(database.pool);
  await database.pool.query(`UPDATE chain.derived_tables SET is_followed = true WHERE name = 'properties'`);
  await rounds();
  expect(told(titled)).toEqual([
    ['confirmed', 1],
    ['confirmed', 2],
  ]);
  expect((await database.pool.query('SELECT FROM service.watches_owed')).rowCount).toBe(0);
});

test('a pending finding is void if its transaction was mined without it, and nothing is void while a table is behind', async () => {
  const txid = testTxid(900);
  await setPending(database.pool, [pendingRows(txid, 1, found)]);
  await rounds();
  expect(told()).toEqual([['pending', 1]]);
  await rows.addBlock([]);
  await database.pool.query(
    `UPDATE chain.mempool_transactions AS t SET block_height = b.height, block_hash = b.hash
       FROM chain.blocks AS b WHERE b.height = 1`,
  );
  const moment = { now: 0, hasAll: true };
  const leaving = new LeavingFindings();
  expect(await statesAt(leaving, { ...moment, isMatched: async () => false })).toEqual([]);
  await rounds();
  expect(told()).toEqual([
    ['pending', 1],
    ['void', 2],
  ]);
});

test('no finding is void while the settings leave out a table that a watch needs', async () => {
  await newWatch(database.pool, watch.keyId, 'sales', { minPrice: 1 });
  const setTable = (isWanted: boolean): Promise<unknown> =>
    database.pool.query(
      `INSERT INTO chain.derived_tables (name, from_height, is_followed, is_wanted) VALUES ('sales', 0, $1, $1)
       ON CONFLICT (name) DO UPDATE SET is_followed = excluded.is_followed, is_wanted = excluded.is_wanted`,
      [isWanted],
    );
  const txid = testTxid(900);
  await setTable(false);
  await setPending(database.pool, [pendingRows(txid, 1, found)]);
  await rounds();
  await rows.addBlock([]);
  await database.pool.query(
    `UPDATE chain.mempool_transactions AS t SET block_height = b.height, block_hash = b.hash
       FROM chain.blocks AS b WHERE b.height = 1`,
  );
  await rounds();
  expect(told()).toEqual([['pending', 1]]);
  await setTable(true);
  await rows.addBlock([]);
  await rounds();
  expect(told()).toEqual([
    ['pending', 1],
    ['void', 2],
  ]);
});

test('a pending finding is replaced by a departure that is newer than its state, or after a time', async () => {
  const txid = testTxid(900);
  await setPending(database.pool, [pendingRows(txid, 1, found)]);
  await rounds();
  await database.pool.query('DELETE FROM chain.mempool_transactions');
  const leaving = new LeavingFindings();
  const at = (now: number, hasAll = true): Promise<FoundState[]> =>
    statesAt(leaving, { now, hasAll, isMatched: async () => true });
  const depart = async (position: number, seconds: number, by: Buffer): Promise<void> => {
    await database.pool.query(
      `INSERT INTO chain.mempool_departures (position, txid, reason, replaced_by, left_at)
       VALUES ($1, $2, 'replaced', $3, now() + make_interval(secs => $4))`,
      [position, txid, by, seconds],
    );
  };
  await depart(1, -600, testTxid(901));
  expect(await at(1_000)).toEqual([]);
  expect(await at(12_000, false)).toEqual([]);
  expect(await at(12_000)).toMatchObject([{ state: 'replaced', replacedBy: null }]);
  expect(await at(1_000 + 15 * 60_000, false)).toMatchObject([{ state: 'replaced' }]);
  // it came back, and is missed again
  await setPending(database.pool, [pendingRows(txid, 2, found)]);
  expect(await at(20 * 60_000)).toEqual([]);
  await database.pool.query('DELETE FROM chain.mempool_transactions');
  expect(await at(21 * 60_000)).toEqual([]);
  await depart(2, 60, testTxid(902));
  expect(await at(21 * 60_000)).toMatchObject([{ state: 'replaced', replacedBy: testTxid(902) }]);
});

test('a confirmed finding does not become pending while the mempool still has its transaction', async () => {
  await rows.addBlock([found]);
  await rounds();
  const state = { watchId: watch.id, thing: idOf(1), txid: testTxid(1), facts: {}, replacedBy: null };
  const changed = new Map<string, number>();
  await writeStates(client, [{ ...state, state: 'pending', block: null }], changed);
  expect(changed.size).toBe(0);
  expect(await findingsOf(database.pool, watch)).toMatchObject([{ state: 'confirmed', number: 1 }]);
});

test('watches are behind by the changes of the chain that were not matched', async () => {
  const behind = async (): Promise<number | null> => (await readWatchesStanding(database.pool)).behind;
  expect(await behind()).toBe(0);
  await rows.addBlock([found]);
  await database.pool.query(
    `INSERT INTO chain.outbox (sequence, height, block_hash, event_count, reclassified)
     SELECT sequence + 1, height, block_hash, 0, 1 FROM chain.outbox ORDER BY sequence DESC LIMIT 1`,
  );
  expect(await behind()).toBe(1);
  await rounds();
  expect(await behind()).toBe(0);
  await undoAbove(0);
  expect(await behind()).toBe(1);
  await database.pool.query('DELETE FROM service.watches');
  expect(await behind()).toBe(0);
});

test('an etching whose name a block has is no longer pending', async () => {
  await setPending(database.pool, [pendingRows(testTxid(900), 1, other)]);
  await database.pool.query(
    `INSERT INTO chain.mempool_etchings (position, spacers, divisibility, state, rune, premine)
     VALUES (1, 0, 0, 'open', 99246114928149462, 0)`,
  );
  expect(await readPendingEtchings(client, 0)).toMatchObject([{ event: 'etched', id: null }]);
  await database.pool.query(
    `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine, txid)
     VALUES (0, 0, 1, 0, 0, false, false, 0, 99246114928149462, 0, $1)`,
    [testTxid(900)],
  );
  expect(await readPendingEtchings(client, 0)).toEqual([]);
});

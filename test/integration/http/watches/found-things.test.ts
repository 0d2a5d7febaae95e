import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKeys } from '#accounts/account.store.ts';
import { readIndexPosition } from '#chain/arrivals/arrived-blocks.queries.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { blockHashOf, idOf, txidOf } from '#test/support/chain/rows/chain-rows.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp, silentLogger } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { startReceiver } from '#test/support/webhooks/receiver.ts';
import { startSending } from '#test/support/webhooks/sending.ts';
import { followWatches } from '#watches/following/follow-watches.ts';
import { WatchesSession } from '#watches/following/watches-session.ts';
import { writeWatchesOffset } from '#watches/store/watches-offset.store.ts';
import { WebhookKeys } from '#webhooks/webhook-keys.ts';

type Json = Readonly<Record<string, unknown>>;
interface WatchJson extends Json {
  readonly id: string;
  readonly feedUrl: string;
}

const script = Buffer.concat([Buffer.from([0x00, 0x14]), Buffer.alloc(20, 9)]);
const address = scriptToAddress(script, networks.regtest) ?? '';
const hexOf = (name: string): string => displayHash(asTxid(txidOf(name)));
const parent = idOf('parent');
const flood = 250;

let http: HttpApp;
let given: TestAccess;
let key: string;
let clients: pg.PoolClient[] = [];

beforeAll(async () => {
  http = await createHttpApp(
    [
      { height: 0, rows: [{ name: 'parent' }] },
      {
        height: 1,
        rows: [
          { name: 'child', parents: [parent], body: 'a rare word', location: { script } },
          ...Array.from({ length: flood }, (_, nth) => ({ name: `flood ${nth}`, body: `flooded ${nth}` })),
        ],
      },
      ...[2, 3, 4, 5].map((height) => ({
        height,
        rows: [{ name: `late ${height}`, body: 'again and again' }],
      })),
    ],
    {
      access: ({ accessPool }) => {
        given = testAccess(accessPool, { mode: 'open' });
        return given.access;
      },
    },
  );
  key = (await giveKey(http.database.pool, { rate: '0' })).key;
  await http.database.pool.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('sales', 0, true), ('runes', 0, true)",
  );
  clients = await Promise.all([http.database.pool.connect(), http.database.pool.connect()]);
}, 60_000);
afterAll(async () => {
  for (const client of clients) client.release();
  await given.close();
  await http.close();
});

async function ask<Body = Json>(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  { as = key, body }: { as?: string; body?: object } = {},
): Promise<{ status: number; body: Body }> {
  const payload = body === undefined ? {} : { payload: body };
  const answer = await http.app.inject({ method, url, headers: { 'x-api-key': as }, ...payload });
  return { status: answer.statusCode, body: answer.json<Body>() };
}

async function watch(body: object, as = key): Promise<WatchJson> {
  const answer = await ask<{ watch: WatchJson; search: WatchJson }>(
    'POST',
    'kind' in body ? '/watches' : '/searches',
    { body, as },
  );
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.watch ?? answer.body.search;
}

const findingsOf = async ({ id }: WatchJson, query = ''): Promise<Json[]> =>
  (await ask<{ findings: Json[] }>('GET', `/watches/${id}/findings${query}`)).body.findings;

/** Adds the row of a block to the outbox. The block before was the last one that was matched. */
async function arrive(height: number): Promise<void> {
  const { pool } = http.database;
  await pool.query(
    `UPDATE service.watches_offset
        SET height = $1, sequence = (SELECT coalesce(max(sequence), 0) FROM chain.outbox)`,
    [height - 1],
  );
  await pool.query(
    `INSERT INTO chain.outbox (sequence, height, block_hash, event_count)
     SELECT coalesce(max(sequence), 0) + 1, $1, $2, 0 FROM chain.outbox`,
    [height, blockHashOf(height)],
  );
}

/** One round of a process that has just begun to follow. Such a process looks up at once which watches end. */
async function followOnce(): Promise<void> {
  const [client, reader] = clients;
  if (client === undefined || reader === undefined) throw new Error('the test has no connections');
  const readCollections = async (_: unknown, ids: readonly unknown[]) => ids.map(() => null);
  const session = new WatchesSession({ client, reader, network: networks.regtest, readCollections });
  await session.load();
  await session.round();
}

const rowsOf = async (sql: string, ...values: unknown[]): Promise<Json[]> =>
  (await http.database.pool.query<Json>(sql, values)).rows;
const messagesOf = (subject: string): Promise<Json[]> =>
  rowsOf('SELECT state, body FROM service.webhooks WHERE subject = $1 ORDER BY sequence', subject);

describe('a watch of an index that lacks a table', () => {
  const sales = { kind: 'sales', minPrice: 1_000 };
  const runes = { kind: 'runes', event: 'etched' };

  test('is refused with the errors of other paths', async () => {
    const { pool } = http.database;
    await pool.query('UPDATE chain.derived_tables SET is_followed = false, is_wanted = false');
    expect(await ask('POST', '/watches', { body: sales })).toMatchObject({
      status: 404,
      body: { code: 'sales_not_indexed' },
    });
    expect(await ask('POST', '/watches', { body: runes })).toMatchObject({
      status: 404,
      body: { code: 'runes_not_indexed' },
    });
    await pool.query('UPDATE chain.derived_tables SET is_wanted = true');
    for (const body of [sales, runes])
      expect(await ask('POST', '/watches', { body })).toMatchObject({
        status: 503,
        body: { code: 'derived_table_behind' },
      });
    await pool.query('UPDATE chain.derived_tables SET is_followed = true');
    for (const body of [sales, runes])
      expect(await ask('POST', '/watches', { body })).toMatchObject({ status: 200 });
  });
});

describe('findings', () => {
  beforeAll(async () => {
    const { pool } = http.database;
    await pool.query(
      `INSERT INTO chain.sales (gross_payout, price, height, tx_index, input, place, key, bundle, payout_output, rules,
         class, form, confidence, sighash, wash, txid, maker, taker)
       VALUES (5000, 5000, 1, 2, 3, 0, 0, 1, 0, 1, 0, 0, 0, 131, false, $1, $2, NULL)`,
      [txidOf('sale'), script],
    );
    const name = parseSpacedRune('SATSCRIBE•DEMO•COIN');
    await pool.query(
      `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine,
         cap, txid) VALUES (0, 1, 7, $1, 0, false, true, 0, $2, 0, 10, $3)`,
      [name?.spacers, String(name?.rune), txidOf('etching')],
    );
    await pool.query(
      `INSERT INTO chain.rune_mints (height, rune_key, mints, tx_indexes) VALUES (1, 0, 10, '{8}')`,
    );
    await pool.query(
      `INSERT INTO chain.rune_balances (height, tx_index, vout, rune_key, amount, txid, script)
       VALUES (1, 8, 2, 0, 21, $1, $2)`,
      [txidOf('rune'), script],
    );
    await pool.query(
      'INSERT INTO chain.outputs (value, height, vout, txid, script) VALUES (7000, 1, 4, $1, $2)',
      [txidOf('paid'), script],
    );
    const position = await readIndexPosition(pool as unknown as pg.ClientBase);
    const { identity = '' } = position ?? {};
    await writeWatchesOffset(pool as unknown as pg.ClientBase, {
      identity,
      sequence: 0,
      height: 0,
      position: 0,
    });
  });

  test('of each kind have the fields of their kind, and a flood is one message with the number of the rest', async () => {
    const watches = {
      search: await watch({ text: 'rare word' }),
      children: await watch({ kind: 'children', parent }),
      sales: await watch({ kind: 'sales', minPrice: 5_000, maxPrice: 5_000, address }),
      dear: await watch({ kind: 'sales', minPrice: 5_001 }),
      etched: await watch({ kind: 'runes', event: 'etched' }),
      minted: await watch({ kind: 'runes', event: 'minted-out', rune: 'SATSCRIBE•DEMO•COIN' }),
      receipts: await watch({ kind: 'receipts', address }),
    };
    const flooded = await watch({ text: 'flooded', webhookUrl: 'https://shop.example/hooks' });
    await arrive(1);
    await followOnce();

    const inBlock = {
      id: expect.stringMatching(/^[0-9a-f]{32}$/u) as string,
      state: 'confirmed',
      height: 1,
      blockHash: displayHash(asTxid(blockHashOf(1))),
      replacedBy: null,
      firstSeen: expect.any(String) as string,
      changedAt: expect.any(String) as string,
    };
    const [child, rune] = [{ inscriptionId: idOf('child') }, { rune: 'SATSCRIBE•DEMO•COIN', runeId: '1:7' }];
    const one = (facts: Json) => [{ ...inBlock, number: 1, ...facts }];
    expect(await findingsOf(watches.search)).toEqual(one({ txid: hexOf('child'), ...child }));
    expect(await findingsOf(watches.children)).toEqual(one({ txid: hexOf('child'), ...child }));
    expect(await findingsOf(watches.sales)).toEqual(
      one({ txid: hexOf('sale'), inscriptionId: parent, input: 3, price: 5_000 }),
    );
    expect(await findingsOf(watches.dear)).toEqual([]);
    // both events name the etching
    expect(await findingsOf(watches.etched)).toEqual(
      one({ txid: hexOf('etching'), event: 'etched', ...rune }),
    );
    expect(await findingsOf(watches.minted)).toEqual(
      one({ txid: hexOf('etching'), event: 'minted-out', ...rune }),
    );
    const received = await findingsOf(watches.receipts);
    expect(received.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(received).toEqual(
      expect.arrayContaining(
        [
          { txid: hexOf('child'), vout: 0, ...child },
          { txid: hexOf('rune'), vout: 2, runeId: '1:7', amount: '21' },
          { txid: hexOf('paid'), vout: 4, sats: '7000' },
        ].map((facts) => ({ ...inBlock, number: expect.any(Number) as number, ...facts })),
      ),
    );

    const messages = await messagesOf(`search ${flooded.id}`);
    expect(messages).toHaveLength(1);
    const told = JSON.parse(String(messages[0]?.['body'])) as { findings: { number: number }[] } & Json;
    expect(told).toMatchObject({ id: flooded.id, kind: 'search', number: flood, more: flood - 100 });
    expect(told.findings).toHaveLength(100);
    const rest = await findingsOf(flooded, `?after=${told.findings.at(-1)?.number}&limit=1000`);
    expect(rest).toHaveLength(flood - 100);
    const all = await findingsOf(flooded, '?limit=1000');
    expect([...told.findings, ...rest]).toEqual(all);
  });

  test('end with a webhook that answers 410, and can still be read', async () => {
    const receiver = await startReceiver((_request, response) => response.writeHead(410).end());
    const sending = startSending(http.database, { keys: async () => new WebhookKeys(Buffer.alloc(32, 7)) });
    try {
      const webhookUrl = `http://gone.example:${receiver.port}/`;
      const gone = await watch({ text: 'again and again', webhookUrl });
      const other = await watch({ text: 'again and again' });
      await arrive(2);
      await followOnce();
      await waitUntil(async () => (await messagesOf(`search ${gone.id}`))[0]?.['state'] === 'gone');
      await arrive(3);
      await followOnce();
      expect(receiver.received).toHaveLength(1);
      expect(await ask('GET', `/searches/${gone.id}`)).toMatchObject({
        body: { search: { active: false, endReason: 'gone', found: 1, lastNumber: 1 } },
      });
      expect((await findingsOf(gone)).map(({ height }) => height)).toEqual([2]);
      expect((await findingsOf(other)).map(({ height }) => height)).toEqual([2, 3]);
    } finally {
      await sending.stop();
      await receiver.close();
    }
  });

  test('end with the key, and the feed and the waiting messages end, too', async () => {
    const { key: secret, account } = await giveKey(http.database.pool, { rate: '0' });
    const webhookUrl = 'https://shop.example/hooks';
    const revoked = await watch({ text: 'again and again', webhookUrl }, secret);
    const feed = new URL(revoked.feedUrl);
    const feedStatus = async (): Promise<number> =>
      (await http.app.inject({ url: `${feed.pathname}${feed.search}` })).statusCode;
    await arrive(4);
    await followOnce();
    expect(await messagesOf(`search ${revoked.id}`)).toHaveLength(1);
    expect(await feedStatus()).toBe(200);
    await revokeKeys(http.database.pool, { account, scopes: [], key: null });
    // at once, also if no process follows
    expect(await feedStatus()).toBe(404);
    await arrive(5);
    await followOnce();
    expect(await messagesOf(`search ${revoked.id}`)).toEqual([]);
    expect(await rowsOf('SELECT end_reason, found FROM service.watches WHERE id = $1', revoked.id)).toEqual([
      { end_reason: 'revoked', found: 1 },
    ]);
  });

  test('are told once while two processes follow, and one process continues when the other ends', async () => {
    const follow = (): (() => Promise<void>) => {
      const controller = new AbortController();
      const end = followWatches({
        url: http.database.url,
        network: networks.regtest,
        readCollections: async (_, ids) => ids.map(() => null),
        signal: controller.signal,
        log: silentLogger(),
      });
      return () => {
        controller.abort();
        return end;
      };
    };
    const of = await watch({ text: 'again and again', webhookUrl: 'https://shop.example/hooks' });
    const heights = async (): Promise<unknown[]> => (await findingsOf(of)).map(({ height }) => height);
    const found = (...expected: number[]): Promise<unknown> =>
      waitUntil(async () => expect(await heights()).toEqual(expected));
    await arrive(2);
    const processes = [follow(), follow()];
    try {
      await found(2);
      // one of the two processes waited until now
      await processes.shift()?.();
      await arrive(3);
      await found(2, 3);
      processes.push(follow());
      await processes.shift()?.();
      await arrive(4);
      await found(2, 3, 4);
    } finally {
      for (const stop of processes) await stop();
    }
    const told = (await messagesOf(`search ${of.id}`)).map(
      ({ body }) => JSON.parse(String(body)) as { number: number; findings: object[] },
    );
    expect(told.map(({ number, findings }) => [number, findings.length])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
  });

  test('are deleted with their watch at once, and the waiting messages a little later', async () => {
    const flooded = await watch({ text: 'flooded', webhookUrl: 'https://shop.example/hooks' });
    await arrive(1);
    await followOnce();
    const count = `SELECT count(*) AS count FROM service.watch_findings WHERE watch_id = $1`;
    expect(await rowsOf(count, flooded.id)).toEqual([{ count: flood }]);
    expect(await messagesOf(`search ${flooded.id}`)).toMatchObject([{ state: 'waiting' }]);
    expect(await ask('DELETE', `/watches/${flooded.id}`)).toMatchObject({
      body: { watch: { active: false, found: flood } },
    });
    expect(await rowsOf(count, flooded.id)).toEqual([{ count: 0 }]);
    await followOnce();
    expect(await messagesOf(`search ${flooded.id}`)).toEqual([]);
  });
});

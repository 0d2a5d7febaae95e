import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catchUp } from '#indexer/catch-up/catch-up.ts';
import { remakeTable } from '#indexer/derived/derived-state.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { sales } from '#indexer/derived/sales/sales.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import { marketApp } from '#test/support/market/market-app.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { alice, bob, carol, Trades } from '#test/support/sales/trades.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const path = '/marketplace/data/sales';
let node: IndexedNode;
let trades: Trades;
let app: Awaited<ReturnType<typeof marketApp>>;
let address: string;

beforeAll(async () => {
  node = await startIndexedNode();
  trades = new Trades(node);
  app = await marketApp(node.database);
  address = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
  await node.close();
});

interface Line {
  readonly id: string;
  readonly type: string;
  readonly txid?: string;
  readonly height: number;
  readonly slug?: string | null;
  readonly cancels?: number;
}

async function salesAt(query: string): Promise<Line[]> {
  const answer = await fetch(`${address}${path}${query}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const text = await answer.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

const height = async (): Promise<number> => node.bitcoind.rpc.call<number>('getblockcount');

async function mined(...transactions: readonly RegtestTransaction[]): Promise<string> {
  const { hash } = await node.chain.mine(transactions);
  await node.atTip();
  return hash;
}

describe('sales of all collections', () => {
  test('begin at a height, name people and collection, and resume after a line', async () => {
    const [first, second] = [await trades.item(alice), await trades.item(alice)];
    const { pool } = node.database;
    await pool.query(
      `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ('frogs', 'Frogs', 1, sha256('x'))`,
    );
    await pool.query(
      `INSERT INTO service.market_items (slug, place, index, txid) VALUES ('frogs', 0, 0, $1)`,
      [Buffer.from(first.txid, 'hex').reverse()],
    );
    const one = await trades.purchase(first.coin(0), bob, 70_000);
    const two = await trades.purchase(second.coin(0), carol, 50_000);
    await mined(one);
    const since = await height();
    await mined(two);
    const lines = await salesAt(`?since=${since}`);
    expect(lines).toEqual([
      {
        id: expect.stringMatching(/^\d+\.s1$/u) as string,
        type: 'sale',
        inscriptionId: `${first.txid}i0`,
        txid: one.txid,
        input: 2,
        height: since,
        blockHash: expect.stringMatching(/^[0-9a-f]{64}$/u) as string,
        class: 'sale',
        price: 70_000,
        grossPayout: 80_000,
        makerAddress: addressOf(alice),
        takerAddress: addressOf(bob),
        form: 'two-dummies',
        confidence: 'bound-known',
        slug: 'frogs',
        bundle: 1,
        wash: false,
      },
      expect.objectContaining({ txid: two.txid, height: since + 1, slug: null, price: 50_000 }),
    ]);
    expect(await salesAt(`?since=${since + 1}`)).toEqual(lines.slice(1));
    expect(await salesAt(`?after=${lines[0]!.id}`)).toEqual(lines.slice(1));
    expect(await salesAt(`?since=${since + 2}`)).toEqual([]);
    expect((await salesAt('')).slice(-2)).toEqual(lines);
  });

  test('leave out what orders of this service delivered', async () => {
    const item = await trades.item(alice);
    const sold = await trades.purchase(item.coin(0), bob, 40_000);
    await mined(sold);
    const since = await height();
    expect(await salesAt(`?since=${since}`)).toHaveLength(1);
    const { pool } = node.database;
    // no order is needed to know that the transaction belongs to the service
    await pool.query(
      `ALTER TABLE service.wallet_transactions DROP CONSTRAINT wallet_transactions_order_id_fkey`,
    );
    await pool.query(
      `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
       VALUES ($1, gen_random_uuid(), 'return', 0, 0, '', '{}', 0)`,
      [Buffer.from(sold.txid, 'hex').reverse()],
    );
    expect(await salesAt(`?since=${since}`)).toEqual([]);
    await pool.query('DELETE FROM service.wallet_transactions');
  });

  test('report a reorganisation with an undo line, and the sales of the new blocks', async () => {
    const item = await trades.item(alice);
    const toBob = await trades.purchase(item.coin(0), bob, 50_000);
    const toCarol = await trades.purchase(item.coin(0), carol, 60_000);
    const before = await mined(toBob);
    const since = await height();
    const [seen] = await salesAt(`?since=${since}`);
    await node.bitcoind.rpc.call('invalidateblock', [before]);
    await node.chain.mine([toCarol]);
    await mined();
    const lines = await salesAt(`?after=${seen!.id}`);
    expect(lines.map(({ type, txid, height: at, cancels }) => [type, txid, at, cancels])).toEqual([
      ['undo', undefined, since, Number(seen!.id.split('.')[0])],
      ['sale', toCarol.txid, since, undefined],
    ]);
    // a client that begins now gets no undone sales
    expect((await salesAt(`?since=${since}`)).map(({ txid }) => txid)).toEqual([toCarol.txid]);
  });

  test('pause while they are reclassified, and one line reports that', async () => {
    const item = await trades.item(alice);
    await mined(await trades.purchase(item.coin(0), bob, 50_000));
    const since = await height();
    const [seen] = await salesAt(`?since=${since}`);
    const { pool } = node.database;
    expect(await withTransaction(pool, (tx) => remakeTable(tx, derivedTables, sales))).toBe('begun');
    await pool.query(
      `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ('toads', 'Toads', 1, sha256('y'))`,
    );
    const exported = '/marketplace/data/export?slug=toads';
    for (const url of [`${path}?since=${since}`, `${path}/stream`, '/events?kind=sales', exported]) {
      const refused = await fetch(`${address}${url}`);
      expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
      expect(await refused.text()).toContain('is being rebuilt by version');
    }
    const source = openNodeSource(await connectNode(node.bitcoind.settings));
    await catchUp({
      source,
      pool,
      signal: new AbortController().signal,
      settings: { indexAddresses: true, indexRunes: true, indexSats: false, indexSales: true },
      writer: new WriterActivity(),
      endsCaughtUp: true,
      threads: parseThreads(),
      bounds: { lookMs: 20 },
    });
    await source.close();
    expect((await fetch(`${address}${exported}`)).status).toBe(200);
    const next = await mined();
    const lines = await salesAt(`?after=${seen!.id}`);
    expect(lines).toMatchObject([{ type: 'reclassified', height: since, rules: 3 }]);
    expect(await salesAt(`?after=${lines[0]!.id}`)).toEqual([]);
    // a client that begins now uses the new rules, which void none of its sales
    expect(await salesAt(`?since=${since}`)).toEqual([seen]);
    for (const first of ['', '?after=0', '?since=0']) {
      const all = await salesAt(first);
      expect(all.at(-1)).toEqual(seen);
      expect(all.map(({ type }) => type)).not.toContain('reclassified');
    }
    const eventsAt = async (kind: string, place: string): Promise<Record<string, unknown>[]> => {
      const answer = await fetch(`${address}/events?kind=${kind}${place}`);
      return (await answer.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    const after = `&after=${seen!.id.split('.')[0]}`;
    const [told, block] = await eventsAt('sales', after);
    expect(told).toMatchObject({ id: lines[0]!.id, type: 'reclassified', version: 3 });
    expect(block).toMatchObject({ type: 'block', height: since + 1, blockHash: next });
    // other kinds have no event for that row
    expect(await eventsAt('inscriptions', after)).toMatchObject([{ type: 'block', blockHash: next }]);
    for (const first of ['', '&from=1', '&after=0']) {
      const all = await eventsAt('sales', first);
      expect(all.at(-1)).toEqual(block);
      expect(all.map(({ type }) => type)).not.toContain('reclassified');
    }
  });

  test('are pushed as blocks arrive, with undos, and resume after Last-Event-ID', async () => {
    const item = await trades.item(alice);
    const toBob = await trades.purchase(item.coin(0), bob, 50_000);
    await node.atTip();
    const control = new AbortController();
    const answer = await fetch(`${address}${path}/stream`, { signal: control.signal });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    let text = '';
    const reading = (async () => {
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) text += piece;
    })().catch(() => undefined);
    await waitUntil(() => text.includes('retry: '));
    const block = await mined(toBob);
    await waitUntil(() => text.includes(toBob.txid));
    const [, id] = /^id: (\d+\.s1)\nevent: sale\n/mu.exec(text) ?? [];
    expect(id).toBeDefined();
    await node.bitcoind.rpc.call('invalidateblock', [block]);
    await node.chain.mine();
    await mined();
    await waitUntil(() => text.includes('event: undo'));
    control.abort();
    await reading;
    const again = new AbortController();
    const resumed = await fetch(`${address}${path}/stream`, {
      signal: again.signal,
      headers: { 'last-event-id': id! },
    });
    let rest = '';
    for await (const piece of resumed.body!.pipeThrough(new TextDecoderStream())) {
      rest += piece;
      if (rest.includes('event: undo')) break;
    }
    again.abort();
    expect(rest).toContain(`"cancels":${id!.split('.')[0]}`);
    expect(rest).not.toContain(toBob.txid);
  });

  test.each([
    ['?since=-1', 'since'],
    ['?since=abc', 'since'],
    ['?since=1.5', 'since'],
    ['?since=2147483648', 'since'],
    ['?since=1&after=2', 'since'],
    ['?after=12.3', 'after'],
    ['?after=12.r3', 'after'],
    ['?after=x', 'after'],
    ['/stream?since=-1', 'since'],
  ])('refuse %s', async (query, param) => {
    const answer = await fetch(`${address}${path}${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      errors: [{ msg: expect.stringContaining(param) as string, param, location: 'query' }],
      code: 'request_invalid',
    });
  });
});

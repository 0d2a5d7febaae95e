import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, type RegtestTransaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { importItems, marketApp } from '#test/support/market/market-app.ts';
import { idOfReveal, inscribed, Purse } from '#test/support/market/regtest-market.ts';
import { type IndexedNode, startIndexedNode } from '#test/support/utxos/indexed-node.ts';

const alice = 11;
const bob = 12;
const carol = 13;
const path = '/marketplace/data/export';

let node: IndexedNode;
let app: ReturnType<typeof buildCheckedApp>;
/** Sales of 50,000, 60,000 and 70,000 sats in three blocks. The first sale is of an item with a hostile name. */
let sold: readonly RegtestTransaction[];
let item: string;

type Row = Readonly<Record<string, unknown>>;

beforeAll(async () => {
  node = await startIndexedNode();
  const purse = new Purse(node.chain);
  app = await marketApp(node.database);
  const made = await inscribed(node.chain, { body: 'an item' }, { to: alice });
  item = idOfReveal(made);
  await importItems(node.database, { slug: 'frogs' }, [[item, '=HYPERLINK("x","y")']]);
  const toBob = await purse.purchase(made.coin(0), bob, 50_000);
  const toCarol = await purse.purchase({ ...toBob.coin(1), owner: bob }, carol, 60_000);
  const toAlice = await purse.purchase({ ...toCarol.coin(1), owner: carol }, alice, 70_000);
  sold = [toBob, toCarol, toAlice];
  for (const tx of sold) await node.chain.mine([tx]);
  await node.atTip();
});
afterAll(async () => {
  await app.close();
  await node.close();
});

async function text(query = ''): Promise<string> {
  const answer = await app.inject(`${path}?slug=frogs${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.body;
}
const rows = async (query = ''): Promise<Row[]> =>
  (await text(query))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
const heightsOfSales = async (): Promise<number[]> => (await rows()).map(({ height }) => height as number);
const pricesOf = (found: readonly Row[]): unknown[] => found.map(({ price }) => price);

describe('an export of the sales of a collection', () => {
  test('has a line for each sale with its evidence, in the order of the chain', async () => {
    const answer = await app.inject(`${path}?slug=frogs`);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(answer.headers['content-disposition']).toBe('attachment; filename="sales-frogs.ndjson"');
    const found = await rows();
    expect(found.map(({ txid }) => txid)).toEqual(sold.map(({ txid }) => txid));
    const [height] = await heightsOfSales();
    const hash = await node.bitcoind.rpc.call<string>('getblockhash', [height]);
    const { time } = await node.bitcoind.rpc.call<{ time: number }>('getblockheader', [hash]);
    expect(found[0]).toEqual({
      id: `${height}.1.2.0.${hash.slice(-16)}`,
      inscriptionId: item,
      inscriptionNumber: expect.any(Number) as unknown,
      inscriptionName: '=HYPERLINK("x","y")',
      slug: 'frogs',
      txid: sold[0]!.txid,
      input: 2,
      height,
      time: `${new Date(time * 1000).toISOString().slice(0, 19)}Z`,
      class: 'sale',
      price: 50_000,
      grossPayout: 60_000,
      makerAddress: addressOf(alice),
      takerAddress: addressOf(bob),
      form: 'two-dummies',
      confidence: 'bound-known',
      payoutOutput: 2,
      feeOutput: null,
      sighash: 0x83,
      bundle: 1,
      wash: false,
    });
  });

  test('can be a table, in which no name is a formula', async () => {
    const answer = await app.inject(`${path}?slug=frogs&format=csv`);
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers['content-disposition']).toBe('attachment; filename="sales-frogs.csv"');
    const [height] = await heightsOfSales();
    const [head = '', first = '', ...more] = answer.body.split('\r\n');
    expect(head.split(',')).toEqual(Object.keys((await rows())[0]!));
    expect(first).toContain(`,"'=HYPERLINK(""x"",""y"")",frogs,${sold[0]!.txid},2,${height},`);
    expect(more).toHaveLength(3);
  });

  test('has a range of heights or days, both ends included', async () => {
    const [first, second, third] = await heightsOfSales();
    expect(pricesOf(await rows(`&from=${second}`))).toEqual([60_000, 70_000]);
    expect(pricesOf(await rows(`&to=${second}`))).toEqual([50_000, 60_000]);
    expect(pricesOf(await rows(`&from=${second}&to=${second}`))).toEqual([60_000]);
    expect(await rows(`&from=${third! + 1}`)).toEqual([]);
    const day = String((await rows())[0]!['time']).slice(0, 10);
    expect(pricesOf(await rows(`&from=${day}&to=${first}`))).toEqual([50_000]);
    expect(await rows('&from=2999-01-01')).toEqual([]);
    expect(await rows('&to=2009-01-03')).toEqual([]);
    expect(await text('&from=2999-01-01&format=csv')).toMatch(/^id,[^\r]*\r\n$/u);
  });

  test('can be resumed after any of its rows', async () => {
    const all = await rows();
    for (const [nth, { id }] of all.entries())
      expect(await rows(`&after=${String(id)}`)).toEqual(all.slice(nth + 1));
    const [first, second] = all;
    expect(await rows(`&after=${String(first!['id'])}&to=${String(second!['height'])}`)).toEqual([all[1]]);
  });

  test('answers HEAD without reading rows', async () => {
    const answer = await app.inject({ method: 'HEAD', url: `${path}?slug=frogs&format=csv` });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
    expect(answer.headers['x-indexed-height']).toBe(String((await heightsOfSales()).at(-1)));
  });

  test('cannot be resumed after a sale whose block has left the chain', async () => {
    const last = (await rows()).at(-1)!;
    const hash = await node.bitcoind.rpc.call<string>('getblockhash', [last['height']]);
    await node.bitcoind.rpc.call('invalidateblock', [hash]);
    await node.chain.mine([]);
    await node.chain.mine([sold[2]!]);
    await node.atTip();
    const answer = await app.inject(`${path}?slug=frogs&after=${String(last['id'])}`);
    expect(answer.statusCode).toBe(410);
    expect(answer.body).toContain('is no longer in the chain');
    expect(pricesOf(await rows())).toEqual([50_000, 60_000, 70_000]);
    expect((await rows()).at(-1)!['id']).not.toBe(last['id']);
  });
});

describe('bad input', () => {
  const fault = (param: string, msg: string) => ({ msg: `${param} ${msg}`, param, location: 'query' });
  test.each([
    ['', [fault('slug', 'is required')]],
    ['?slug=a&slug=b', [fault('slug', 'is given more than once')]],
    ['?slug=a&format=xml', [fault('format', 'must be one of ndjson, csv')]],
    ['?slug=a&from=-1', [fault('from', 'is not a height or a date (YYYY-MM-DD)')]],
    ['?slug=a&to=2147483648', [fault('to', 'is not a height or a date (YYYY-MM-DD)')]],
    ['?slug=a&from=5&to=4', [fault('from', 'must not be after to')]],
    ['?slug=a&from=2025-01-02&to=2025-01-01', [fault('from', 'must not be after to')]],
    ['?slug=a&after=1', [fault('after', 'is not the id of a row')]],
    [
      '?from=2025-02-30&to=x&format=xlsx&after=..%2F',
      [
        fault('slug', 'is required'),
        fault('from', 'is not a height or a date (YYYY-MM-DD)'),
        fault('to', 'is not a height or a date (YYYY-MM-DD)'),
        fault('after', 'is not the id of a row'),
        fault('format', 'must be one of ndjson, csv'),
      ],
    ],
  ])('%j has all its faults in one answer', async (query, errors) => {
    const answer = await app.inject(`${path}${query}`);
    expect([answer.statusCode, answer.json<unknown>()]).toEqual([400, { errors, code: 'request_invalid' }]);
  });

  test('an unknown parameter is refused', async () => {
    const answer = await app.inject(`${path}?slug=frogs&fomat=csv`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({
      errors: [{ msg: expect.stringContaining('fomat') as string, param: 'fomat', location: 'query' }],
      code: 'parameter_unknown',
    });
  });

  test.each(['none', '..%2F', '%00', `${'ab'.repeat(32)}i0`])('the slug %j names nothing', async (slug) => {
    const answer = await app.inject(`${path}?slug=${slug}`);
    const errors = [{ msg: 'no collection has this slug', param: 'slug', location: 'query' }];
    expect([answer.statusCode, answer.json<unknown>()]).toEqual([
      404,
      { errors, code: 'collection_unknown' },
    ]);
  });
});

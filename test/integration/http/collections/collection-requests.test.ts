import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import {
  type CollectionSpec,
  holdOne,
  holdRequest,
  insertCollection,
  requireExactCounts,
} from '#test/support/collections/collection-rows.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersAnswer, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

interface Faults {
  readonly error: readonly { readonly msg: string }[];
}
type Shown = Readonly<Record<string, unknown>>;

/** Each request comes from another network. */
let clients = 0;

/** Sends a collection of three items. */
async function create(id: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const answer = await http.app.inject({
    method: 'POST',
    url: '/collection-create',
    remoteAddress: `10.${++clients}.0.1`,
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify({ id, name: id, description: 'Small pictures', creator: 'Ada', totalCount: 3 }),
  });
  expect(answer.statusCode).toBe(200);
}

describe('an order', () => {
  /** Makes a collection whose files are on the disk. */
  async function selling(id: string, given: Partial<CollectionSpec> = {}): Promise<void> {
    const files = new CustomerFiles(http.filesDir);
    for (let item = 0; item < 20; item++) await files.put(Buffer.from(String(item)));
    await insertCollection(http.database.pool, { id, items: 20, ...given });
  }
  const order = async <Body = Faults>(given: unknown, headers = {}): Promise<OrdersAnswer<Body>> => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/collectionorder',
      remoteAddress: `10.${++clients}.0.1`,
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(given),
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };
  const wanted = (id: string, given: object = {}, collection: object = { count: 1 }) => ({
    collection: { id, ...collection },
    receiveAddress: addressOf(910),
    fee: 3,
    token: 'solved',
    ...given,
  });

  /** Bodies as mint sites and the client send them (client-compat 3.11). */
  test.each<[string, object, object?]>([
    ['numbers', { fee: 12, rareSats: 'random', referral: 'site', additionalFee: 900, timeout: 30 }],
    [
      'texts',
      { fee: '12', rareSats: 'random', referral: 'site', additionalFee: '900', timeout: '30' },
      { count: '2' },
    ],
    ['named items', { fee: '7.5', webhookUrl: 'https://site.example.com/hook' }, { requestedIds: ['3', 5] }],
    ['what the types of the client ask for', { lowPostage: false }, { count: 1, requestedIds: [7] }],
    [
      'empty texts',
      { referral: '', webhookUrl: '', rareSats: '', additionalFee: '' },
      { count: 1, requestedIds: null },
    ],
    [
      'fields of wallets',
      {
        walletProvider: 'xverse',
        paymentAddress: 'x',
        orderType: 'collection',
        receiveAddress: [addressOf(911)],
      },
    ],
  ])('accepts a body with %s', async (_, given, collection) => {
    await http.post('/referrals', { referral: 'site', address: addressOf(912) });
    const id = `site-${++clients}`;
    await selling(id, { price: 500, creatorAddress: addressOf(913) });
    const { status, body: made } = await order<Shown>(wanted(id, given, collection));
    expect([status, made]).toEqual([200, expect.anything()]);
    expect(made).toMatchObject({ status: 'ok', state: 'waiting-payment', orderType: 'bulk', price: 500 });
    for (const field of [
      'id',
      'charge',
      'collection',
      'fee',
      'chainFee',
      'serviceFee',
      'rareSatsFee',
      'fileCount',
      'postage',
      'amount',
      'additionalFee',
      'rareSats',
      'receiveAddress',
      'referral',
      'zeroConf',
      'createdAt',
    ])
      expect(made).toHaveProperty(field);
    expect(made['amount']).toBe((made['charge'] as { amount: number }).amount);
  });

  test('with bad input is refused in the form of its endpoint, and holds nothing', async () => {
    const { pool } = http.database;
    await selling('strict');
    await selling('over', { phases: [{ phase: 'p', endsAt: new Date(0) }] });
    await selling('soon', { phases: [{ phase: 'p', startsAt: new Date('2100-01-01') }] });
    await selling('shut');
    await pool.query(`UPDATE service.mint_collections SET state = 'closed' WHERE id = 'shut'`);
    await selling('in-runes');
    await pool.query(
      `UPDATE service.mint_collections SET alt_prices = '{"rune": {"amount": 1, "token": "A"}}' WHERE id = 'in-runes'`,
    );
    await selling('none-left', { items: 1 });
    await holdOne(pool, holdRequest('none-left'));
    await create('waits');
    const named = (...requestedIds: unknown[]) => wanted('strict', {}, { requestedIds });
    const cases: readonly [unknown, number, RegExp][] = [
      [{}, 400, /collection/u],
      [[], 400, /object/u],
      [wanted('nowhere'), 404, /no such collection nowhere/u],
      [wanted('waits'), 404, /no such collection waits/u],
      [wanted('../x'), 404, /no such collection/u],
      [wanted('\u0000'), 400, /collection\.id/u],
      [wanted('shut'), 400, /closed/u],
      [wanted('over'), 400, /The sale is over/u],
      [wanted('soon'), 400, /Phase p opens at 2100-01-01T00:00:00\.000Z/u],
      [wanted('none-left'), 400, /sold out/u],
      [wanted('in-runes'), 501, /runes/u],
      [wanted('strict', {}, { count: 0 }), 400, /count must be from 1 to 1000/u],
      [wanted('strict', {}, { count: -1 }), 400, /count/u],
      [wanted('strict', {}, { count: 1.5 }), 400, /count/u],
      [wanted('strict', {}, { count: '1e3' }), 400, /count/u],
      [wanted('strict', {}, { count: 1_001 }), 400, /count must be from 1 to 1000/u],
      [wanted('strict', {}, {}), 400, /count is required/u],
      [wanted('strict', {}, { count: 2, requestedIds: [1] }), 400, /send only one of these fields/u],
      [named(), 400, /requestedIds is empty/u],
      [named(3, '3'), 400, /twice/u],
      [named(0), 400, /from 1 to/u],
      [named('1.txt'), 400, /requestedIds\[0\]/u],
      [named(21), 400, /no item 21/u],
      [named(...Array.from({ length: 1_001 }, (_, item) => item + 1)), 400, /more than 1000/u],
      [wanted('strict', { receiveAddress: '' }), 400, /receiveAddress/u],
      [wanted('strict', { receiveAddress: [addressOf(1), addressOf(2)] }), 400, /receiveAddress/u],
      [wanted('strict', { receiveAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }), 400, /network/u],
      [wanted('strict', { fee: 0 }), 400, /fee/u],
      [wanted('strict', { fee: 1e9 }), 400, /fee/u],
      [wanted('strict', { timeout: 15 }), 400, /timeout/u],
      [wanted('strict', { postage: 329 }), 400, /postage/u],
      [wanted('strict', { webhookUrl: 'http://127.0.0.1/' }), 400, /webhookUrl/u],
      [wanted('strict', { additionalFee: -1 }), 400, /additionalFee/u],
      [wanted('strict', { files: [{ name: 'a.txt' }] }), 400, /files/u],
      [wanted('strict', { token: undefined }), 401, /token/u],
      [wanted('strict', { token: '' }), 401, /token/u],
    ];
    const ids = ['strict', 'over', 'soon', 'shut', 'in-runes', 'none-left'];
    const before = await pool.query('SELECT order_id FROM service.mint_orders WHERE collection = ANY($1)', [
      ids,
    ]);
    for (const [given, status, words] of cases) {
      const answer = await order(given);
      expect([JSON.stringify(given).slice(0, 200), answer.status]).toEqual([
        JSON.stringify(given).slice(0, 200),
        status,
      ]);
      expect(JSON.stringify(answer.body.error)).toMatch(words);
    }
    const priceOf = async (id: string): Promise<readonly unknown[]> => {
      const payload = { order: { collection: { id, count: 1 }, fee: 2 } };
      const answer = await http.app.inject({ method: 'POST', url: '/price', payload });
      return [answer.statusCode, JSON.stringify(answer.json<Faults>().error)];
    };
    expect(await priceOf('in-runes')).toEqual([501, expect.stringContaining('price in runes')]);
    expect(await priceOf('nowhere')).toEqual([404, expect.stringContaining('no such collection nowhere')]);
    const { rows } = await pool.query(
      `SELECT order_id FROM service.mint_orders WHERE collection = ANY($1) AND standing <> 'released'`,
      [ids],
    );
    expect(rows).toEqual(before.rows);
    for (const id of ids) await requireExactCounts(pool, id);
  });
});

test('bad input of the other endpoints changes nothing', async () => {
  const { pool } = http.database;
  const { key } = await giveKey(pool, { scopes: ['orders'], rate: '0' });
  await create('guarded', { 'x-api-key': key });
  await create('waiting', { 'x-api-key': key });
  await pool.query(
    `UPDATE service.mint_collections SET state = 'approved', decided_at = now(), client = NULL WHERE id = 'guarded'`,
  );
  const update = (phases: unknown, id = 'guarded') =>
    ['POST', '/updatecollectionphases', { id, phases }] as const;
  const allocation = (given: object) => ['POST', '/getallocation', { id: 'guarded', ...given }] as const;
  const cases: readonly [readonly [string, string, unknown?], number, RegExp][] = [
    [update([]), 400, /phases is required/u],
    [update({}), 400, /phases/u],
    [update('all'), 400, /phases/u],
    [update([{ isPublic: 2 }]), 400, /isPublic must be 0 or 1/u],
    [update([{ price: -1 }]), 400, /price/u],
    [update([{ startDate: 20, endDate: 10 }]), 400, /endDate must be after/u],
    [update([{ startDate: 20, endDate: 20 }]), 400, /endDate must be after/u],
    [update([{ price: 5 }, {}]), 400, /public at the same time|creator-address/u],
    [update([{ inscriptionsCount: 0 }]), 400, /inscriptionsCount/u],
    [update([{ inscriptionsCount: 4 }]), 400, /is 4, but the collection has only 3/u],
    [update([{ id: '../x' }]), 400, /id/u],
    [update([{ id: 'a' }, { id: 'a' }]), 400, /the id a twice/u],
    [update([{ isPublic: 1, allowList: { [addressOf(1)]: { allocation: 1 } } }]), 400, /public.*allowList/u],
    [update([{ allowList: { bc1q: { allocation: 1 } } }]), 400, /not a Bitcoin address/u],
    [update([{ allowList: { [addressOf(1)]: { allocation: -2 } } }]), 400, /allocation/u],
    [update(Array.from({ length: 51 }, (_, nth) => ({ startDate: nth, endDate: nth + 1 }))), 400, /50/u],
    [update([{}], 'nowhere'), 404, /nowhere/u],
    [update([{}], '../x'), 404, /no such collection/u],
    [allocation({}), 400, /receiveAddress is required/u],
    [allocation({ receiveAddress: 'bc1q' }), 400, /receiveAddress/u],
    [allocation({ receiveAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }), 400, /network/u],
    [allocation({ id: 'nowhere', receiveAddress: addressOf(1) }), 404, /nowhere/u],
    [allocation({ id: 'waiting', receiveAddress: addressOf(1) }), 404, /waiting/u],
    [['GET', '/collection?id='], 400, /id is required/u],
    [['GET', '/collection?id=..%2Fx'], 404, /no such collection/u],
    [['GET', '/get-collection-json'], 400, /id is required/u],
    [['GET', '/get-collection-json?id=nowhere'], 404, /no such collection/u],
    [['GET', '/get-collection-json?id=guarded&onchainFormat=maybe'], 400, /onchainFormat/u],
  ];
  const read = async (): Promise<unknown> => (await http.get('/collection?id=guarded')).body;
  const before = await read();
  for (const [[method, url, payload], status, words] of cases) {
    const answer = await http.app.inject({
      method: method as 'GET',
      url,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    });
    expect([url, payload, answer.statusCode]).toEqual([url, payload, status]);
    expect(answer.json<{ error: unknown }>().error).toSatisfy((error) => words.test(JSON.stringify(error)));
  }
  expect(await read()).toEqual(before);
});

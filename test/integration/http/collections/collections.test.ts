import { createHash, randomUUID } from 'node:crypto';
import qs from 'qs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '#accounts/api-key.ts';
import { listCollections } from '#collections/collection/collection.store.ts';
import { readFiles } from '#collections/collection/files.store.ts';
import { deleteUndecided } from '#collections/collection/insert-collection.store.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import {
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
interface Shown {
  readonly status: string;
  readonly id: string;
  readonly phases: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

const file = (item: number) => ({ name: `${item}.png`, size: 90, url: `https://example.com/${item}.png` });
const body = (id: string, given: object = {}) => ({
  id,
  name: 'Pixels',
  description: 'Small pictures',
  creator: 'Ada',
  totalCount: 3,
  files: [1, 2, 3].map(file),
  ...given,
});

/** Each request comes from another network, unless it says otherwise. */
let clients = 0;
async function create(
  given: object,
  headers: Readonly<Record<string, string>> = {},
  remoteAddress = `10.${++clients}.0.1`,
): Promise<OrdersAnswer<Shown & Faults>> {
  const answer = await http.app.inject({
    method: 'POST',
    url: '/collection-create',
    remoteAddress,
    headers: { 'content-type': 'application/json', ...headers },
    payload: JSON.stringify(given),
  });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}
const approve = (id: string) =>
  http.database.pool.query(
    `UPDATE service.mint_collections SET state = 'approved', decided_at = now(), client = NULL WHERE id = $1`,
    [id],
  );

describe('a collection', () => {
  test('is created, answered with its fields, and shown after its approval', async () => {
    const { status, body: created } = await create(
      body('pixels', {
        price: '1500',
        'creator-address': addressOf(900),
        twitter: '@ada',
        website: 'https://example.com',
        walletProvider: 'unknown fields are ignored',
        phases: [
          {
            id: 'friends',
            isPublic: 0,
            price: 1000,
            startDate: 1_800_000_000,
            endDate: '1800000600',
            allowList: [{ [addressOf(1)]: { allocation: 2 } }, { [addressOf(2)]: { allocation: '-1' } }],
          },
          { inscriptionsCount: 2, isPublic: '1', startDate: 1_800_000_000 },
        ],
      }),
    );
    expect(status).toBe(200);
    const phases = [
      {
        id: 'friends',
        inscriptionsCount: null,
        isPublic: 0,
        price: 1000,
        startDate: 1_800_000_000,
        endDate: 1_800_000_600,
        allowListCount: 2,
      },
      {
        id: '1',
        inscriptionsCount: 2,
        isPublic: 1,
        price: 1500,
        startDate: 1_800_000_000,
        endDate: null,
        allowListCount: 0,
      },
    ];
    expect(created).toMatchObject({
      status: 'ok',
      id: 'pixels',
      price: 1500,
      'creator-address': addressOf(900),
      averageSize: 90,
      inscribedCount: 0,
      active: false,
      files: [file(1), file(2), file(3)],
      phases,
    });
    expect(Math.abs(Number(created['createdAt']) - Date.now())).toBeLessThan(60_000);
    expect(await http.get('/collection')).toMatchObject({
      status: 400,
      body: { status: 'error', error: 'id is required.' },
    });
    expect((await http.get('/collection?id=pixels')).status).toBe(404);
    expect((await http.get('/get-collection-json?id=pixels')).status).toBe(404);
    expect((await http.post('/getallocation', { id: 'pixels', receiveAddress: addressOf(1) })).status).toBe(
      404,
    );
    await approve('pixels');
    const shown = await http.get<Shown>('/collection?id=pixels');
    expect(shown.body).toMatchObject({
      status: 'ok',
      active: true,
      serviceFee: 0,
      totalCount: 3,
      availableCount: 3,
      twitter: '@ada',
      phases: phases.map((phase) => ({ ...phase, takenCount: 0 })),
    });
    expect(JSON.stringify(shown.body)).not.toContain(addressOf(1));
    expect((await http.get('/get-collection-json?id=pixels')).body).toEqual([]);
    const allocation = await http.post('/getallocation', { id: 'pixels', receiveAddress: addressOf(1) });
    const none = { inscribedCount: 0, paidItemCount: 0 };
    expect(allocation.body).toEqual({
      phases: [
        { phaseId: 'friends', public: 0, allocation: 2, ...none },
        { phaseId: '1', public: 1, allocation: -1, ...none },
      ],
    });
    const others = [addressOf(2), addressOf(3)].map((receiveAddress) =>
      http.post<{ phases: { allocation: number }[] }>('/getallocation', { id: 'pixels', receiveAddress }),
    );
    expect((await Promise.all(others)).map((answer) => answer.body.phases[0]?.allocation)).toEqual([-1, 0]);
  });

  test('is stored as it was sent, with the key from the header or from the body', async () => {
    const { key } = await giveKey(http.database.pool, { scopes: ['orders'] });
    const hash = createHash('sha256').update(key).digest('hex');
    await create(body('by-header'), { 'x-api-key': key });
    await create(body('by-body', { apikeyhash: hash.toUpperCase() }));
    const empty = createHash('sha256').update('').digest('hex');
    const { body: unkeyed } = await create(body('by-none', { apikeyhash: empty }));
    expect(unkeyed).not.toHaveProperty('apikeyhash');
    const { rows } = await http.database.pool.query(
      `SELECT id, encode(key_hash, 'hex') AS key, client IS NULL AS known FROM service.mint_collections
        WHERE id LIKE 'by-%' ORDER BY id`,
    );
    expect(rows).toEqual([
      { id: 'by-body', key: hash, known: false },
      { id: 'by-header', key: hash, known: true },
      { id: 'by-none', key: null, known: false },
    ]);
    const files = await readFiles(http.database.pool, 'by-body', { after: 0, limit: 10 });
    expect(files).toEqual([
      { place: 1, name: '2.png', url: file(2).url, toldBytes: 90, stored: null },
      { place: 2, name: '3.png', url: file(3).url, toldBytes: 90, stored: null },
    ]);
  });

  test('is refused whole, with all its faults', async () => {
    const ten = Array.from({ length: 1001 }, (_, item) => file(item));
    const faulty: readonly [object, RegExp][] = [
      [{ id: '../x' }, /id must be 1 to 100 small letters/u],
      [{ id: 'x'.repeat(101) }, /id must be/u],
      [{ id: `${'ab'.repeat(32)}i0` }, /inscription/u],
      [{ id: 'of' }, /already used/u],
      [{ id: '' }, /id is required/u],
      [{ totalCount: 0 }, /totalCount must be from 1 to 100000/u],
      [{ totalCount: 1e9 }, /totalCount must be/u],
      [{ totalCount: 2 }, /files are 3, but totalCount is 2/u],
      [{ totalCount: 2000, files: ten }, /files are 1001.*satscribe mint upload/u],
      [{ price: -1 }, /price must be a whole number of at least 0/u],
      [{ price: 1 }, /creator-address is required/u],
      [{ 'creator-address': 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }, /creator-address.*network/u],
      [{ phases: [{ isPublic: 2 }] }, /isPublic must be 0 or 1/u],
      [{ phases: [{ startDate: 20, endDate: 10 }] }, /endDate must be after/u],
      [{ phases: [{ startDate: 1_800_000_000_000 }] }, /seconds/u],
      [
        { phases: [{ price: 5 }, { isPublic: 1 }], 'creator-address': addressOf(1) },
        /public at the same time/u,
      ],
      [{ phases: [{ inscriptionsCount: 4 }] }, /is 4, but the collection has only 3/u],
      [{ phases: [{ price: 1 }] }, /creator-address/u],
      [{ phases: [{ id: 'a' }, { id: 'a' }] }, /the id a twice/u],
      [{ allowList: { bc1q: { allocation: 1 } } }, /allowList\.bc1q is not a Bitcoin address/u],
      [{ allowList: { [addressOf(1)]: {} } }, /allocation is required/u],
      [{ files: [file(1), file(1)] }, /the name 1\.png twice/u],
      [{ files: [{ ...file(1), name: 'a.exe' }] }, /extension/u],
      [{ files: [{ ...file(1), size: 0 }] }, /0, but a file without bytes/u],
      [{ files: [{ name: '1.png' }] }, /url is required/u],
      [{ files: [{ ...file(1), url: 'http://127.0.0.1/a' }] }, /not public/u],
      [{ website: 'javascript:alert(1)' }, /website must be a URL/u],
      [{ altPrices: { rune: { amount: 0, token: 'A' } } }, /altPrices\.rune\.amount must be above 0/u],
      [{ altPrices: { rune: { amount: -1, token: 'A' } } }, /altPrices\.rune\.amount/u],
      [{ altPrices: { rune: { amount: true, token: 'A' } } }, /altPrices\.rune\.amount/u],
      [{ altPrices: { rune: { amount: 1_234_567_890_123_456, token: 'A' } } }, /send it as a text/u],
      [{ altPrices: { rune: { amount: `${2n ** 128n}`, token: 'A' } } }, /2\^128 - 1/u],
      [{ altPrices: { rune: { amount: `0.${'0'.repeat(38)}1`, token: 'A' } } }, /decimals/u],
      [{ altPrices: { rune: { token: 'A' } } }, /altPrices\.rune\.amount is required/u],
      [{ altPrices: { rune: { amount: 1 } } }, /altPrices\.rune\.token is required/u],
      [{ altPrices: { rune: { amount: 1, token: 'uncommon•goods' } } }, /in capitals: UNCOMMON•GOODS/u],
      [{ altPrices: { rune: { amount: 1, token: 'UNCOMMON•' } } }, /altPrices\.rune\.token is not the name/u],
      [{ altPrices: { rune: { amount: 1, token: '1:0' } } }, /altPrices\.rune\.token is not the name/u],
      [{ altPrices: { brc20: { amount: 1, token: 'A' } } }, /its key must be "rune"/u],
      [{ altPrices: { UNCOMMONGOODS: { amount: 1, token: 'A' } } }, /not the rune of its key/u],
      [{ altPrices: { rune: { amount: 1, token: 'A' }, B: { amount: 1, token: 'B' } } }, /has 2 prices/u],
      [{ altPrices: [], price: -1 }, /altPrices|price/u],
      [{ altPrices: { rune: { amount: 1, token: 'A' } }, price: 5 }, /sold either for sats or for a rune/u],
      [
        { altPrices: { rune: { amount: 1, token: 'A' } }, phases: [{ price: 5 }] },
        /phases\[0\]\.price is above 0, but the collection is sold for a rune/u,
      ],
      [{ altPrices: { rune: { amount: 1, token: 'A' } } }, /needs the key of an account/u],
      [{ apikeyhash: 'abc' }, /apikeyhash/u],
      [{ name: '', description: '' }, /name is required.*description is required/su],
    ];
    for (const [given, words] of faulty) {
      const answer = await create(body('faulty', given));
      expect([given, answer.status]).toEqual([given, 400]);
      expect(answer.body.error.map(({ msg }) => msg).join('\n')).toMatch(words);
    }
    const { rows } = await http.database.pool.query(
      `SELECT id FROM service.mint_collections WHERE id = 'faulty'`,
    );
    expect(rows).toEqual([]);
  });

  test('has a unique id, also among collections of the market', async () => {
    await http.database.pool.query(
      `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ('imported', 'Imported', 0, sha256('a'))`,
    );
    expect((await create(body('unique'))).status).toBe(200);
    for (const id of ['unique', 'imported'])
      expect((await create(body(id))).body.error[0]?.msg).toBe(
        `id ${id} is already used. Choose another id.`,
      );
  });

  test('is in the list of its state, oldest first', async () => {
    const ids = ['list-a', 'list-b', 'list-c'];
    for (const id of ids) await create(body(id));
    await approve('list-b');
    const all = await listCollections(http.database.pool, 'pending', { after: null, limit: 1_000 });
    expect(all.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(['list-a', 'list-c']);
    const rest = await listCollections(http.database.pool, 'pending', { after: 'list-a', limit: 1_000 });
    expect(rest.map(({ id }) => id)).toEqual(['list-c']);
  });

  test('with an Idempotency-Key is created once', async () => {
    const key = { 'idempotency-key': 'once' };
    const first = await create(body('once'), key, '10.200.0.1');
    const second = await create(body('once'), key, '10.200.0.1');
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await create(body('twice'), key, '10.200.0.1')).status).toBe(422);
  });

  test('of a creator without a key is one of a few that wait for the operator, and is deleted in time', async () => {
    const from = '10.201.0.1';
    const states = [];
    for (const item of [1, 2, 3, 4]) states.push((await create(body(`waiting-${item}`), {}, from)).status);
    expect(states).toEqual([200, 200, 200, 409]);
    const { key } = await giveKey(http.database.pool, { scopes: ['orders'] });
    expect((await create(body('waiting-5'), { 'x-api-key': key }, from)).status).toBe(200);
    await http.database.pool.query(
      `UPDATE service.mint_collections SET created_at = now() - interval '31 days' WHERE id LIKE 'waiting-%'`,
    );
    expect(await deleteUndecided(http.database.pool)).toBe(3);
    expect((await create(body('waiting-4'), {}, from)).status).toBe(200);
  });
});

describe('phases', () => {
  const update = (id: string, phases: unknown, key: string | null) =>
    http.post<Shown & Faults>(
      '/updatecollectionphases',
      { id, phases },
      key === null ? {} : { 'x-api-key': key },
    );
  const keyOf = async (...scopes: readonly Scope[]) =>
    (await giveKey(http.database.pool, { scopes, rate: '0' })).key;

  test('change only by the key of the creator or of an operator', async () => {
    const [own, other, admin] = [await keyOf('orders'), await keyOf('orders'), await keyOf('admin')];
    await create(body('keyed'), { 'x-api-key': own });
    await create(body('unkeyed'));
    const phases = [{ id: 'friends', isPublic: 0, allowList: { [addressOf(1)]: { allocation: 1 } } }];
    expect((await update('keyed', phases, null)).status).toBe(401);
    expect((await update('keyed', phases, other)).status).toBe(403);
    expect((await update('unkeyed', phases, own)).status).toBe(403);
    expect((await update('unknown', phases, admin)).status).toBe(404);
    for (const key of [own, admin])
      expect((await update('keyed', phases, key)).body.phases).toMatchObject([
        { id: 'friends', isPublic: 0, allowListCount: 1 },
      ]);
    expect((await update('unkeyed', phases, admin)).status).toBe(200);
  });

  test('are replaced with their lists in any order, and new ones get numbers', async () => {
    const key = await keyOf('orders');
    await create(body('replaced'), { 'x-api-key': key });
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, allowList: { [addressOf(1)]: { allocation: 1 } } }));
    await update('replaced', [a, b, c], key);
    const changed = await update('replaced', [c, { startDate: 10, endDate: 20.5 }, a], key);
    expect(changed.body.phases.map(({ id, allowListCount }) => [id, allowListCount])).toEqual([
      ['c', 1],
      ['1', 0],
      ['a', 1],
    ]);
    expect(changed.body.phases[1]).toMatchObject({ startDate: 10, endDate: 20.5 });
    const none = await update('replaced', [], key);
    expect([none.status, none.body.error[0]?.msg]).toEqual([
      400,
      expect.stringContaining('phases is required'),
    ]);
  });

  test('keep the items of orders', async () => {
    const admin = await keyOf('admin');
    await insertCollection(http.database.pool, {
      id: 'sold',
      items: 20,
      phases: [{ phase: 'one', items: 10 }],
    });
    await holdOne(http.database.pool, holdRequest('sold', { items: { kind: 'drawn', count: 4 } }));
    const faulty: readonly [unknown, RegExp][] = [
      [[{ id: 'one', inscriptionsCount: 3 }], /is 3, but 4 items of phase one are already sold or reserved/u],
      [[{ id: 'two' }], /Phase one must stay/u],
      [[{ id: 'one', price: 5 }], /creator-address/u],
    ];
    for (const [phases, words] of faulty) {
      const answer = await update('sold', phases, admin);
      expect([answer.status, answer.body.error.map(({ msg }) => msg).join()]).toEqual([
        400,
        expect.stringMatching(words),
      ]);
    }
    const { body: changed } = await update(
      'sold',
      [{ id: 'two' }, { id: 'one', inscriptionsCount: 4 }],
      admin,
    );
    expect(changed.phases).toMatchObject([
      { id: 'two', takenCount: 0 },
      { id: 'one', takenCount: 4, inscriptionsCount: 4 },
    ]);
    await requireExactCounts(http.database.pool, 'sold');
    await http.database.pool.query(`UPDATE service.mint_collections SET state = 'closed' WHERE id = 'sold'`);
    expect((await update('sold', [{ id: 'one' }], admin)).status).toBe(400);
    expect((await http.get<Shown>('/collection?id=sold')).body['active']).toBe(false);
  });
});

/** The address of a buyer. There are many buyers. */
const buyer = (number: number): string =>
  scriptToAddress(taprootScript(createHash('sha256').update(String(number)).digest()), networks.regtest)!;
const taprootScript = (key: Buffer): Buffer => Buffer.concat([Buffer.of(0x51, 0x20), key]);

describe('a form', () => {
  const post = async (payload: string): Promise<OrdersAnswer<Shown & Faults>> => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/collectioncreate',
      remoteAddress: `10.${++clients}.0.1`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload,
    });
    return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
  };

  test('of 20,000 fields arrives whole, and one more is refused', async () => {
    const fields = qs
      .stringify(body('form', { 'creator-address': '', phases: [{ isPublic: 0 }] }))
      .split('&');
    const listed = Array.from(
      { length: 20_000 - fields.length },
      (_, number) => `phases[0][allowList][${buyer(number)}][allocation]=1`,
    );
    const form = [...fields, ...listed].join('&');
    expect((await post(`${form}&more=1`)).body.error[0]?.msg).toBe('the form has more than 20000 fields');
    const made = await post(form);
    expect(made.body).toMatchObject({
      id: 'form',
      files: [file(1), file(2), file(3)],
      phases: [{ id: '1', isPublic: 0, allowListCount: listed.length }],
    });
  });

  test('has lists as arrays, or as objects keyed by index', async () => {
    const lists = [
      'files[2][name]=c.png&files[2][url]=https://example.com/c',
      'files[0][name]=a.png&files[0][url]=https://example.com/a',
      'files[1][name]=b.png&files[1][url]=https://example.com/b',
      `phases[0][allowList][0][${addressOf(1)}][allocation]=1`,
      `phases[0][allowList][1][${addressOf(2)}][allocation]=2`,
      'phases[0][endDate]=null',
    ];
    const made = await post(`id=lists&name=a&description=b&creator=c&totalCount=3&${lists.join('&')}`);
    expect(made.body).toMatchObject({
      files: [{ name: 'a.png' }, { name: 'b.png' }, { name: 'c.png' }],
      phases: [{ isPublic: 0, allowListCount: 2, endDate: null }],
    });
  });
});

test('one of 100,000 listed addresses has its allocation, another address has none', async () => {
  await insertCollection(http.database.pool, {
    id: 'large',
    items: 1,
    phases: [{ phase: 'friends', isPublic: false }],
  });
  await http.database.pool.query(
    `INSERT INTO service.mint_allowances (collection, phase, script, items)
     SELECT 'large', 'friends', '\\x5120'::bytea || sha256(n::text::bytea), 1 FROM generate_series(1, 100000) AS n`,
  );
  for (const [receiveAddress, allocation] of [
    [buyer(77), 1],
    [buyer(100_001), 0],
  ] as const) {
    const answer = await http.post('/getallocation', { id: 'large', receiveAddress });
    expect(answer.body).toMatchObject({ phases: [{ allocation }] });
  }
});

test('delivered items are listed in the order of their inscription, with their numbers', async () => {
  const { pool } = http.database;
  await insertCollection(pool, { id: 'delivered', items: 10 });
  const orderId = randomUUID();
  await holdOne(
    pool,
    holdRequest('delivered', {
      orderId,
      script: scriptOf(5),
      items: { kind: 'named', numbers: [7, 3] },
    }),
  );
  await pool.query(
    `UPDATE service.mint_orders SET standing = 'allowed', client = NULL, held_until = NULL WHERE order_id = $1`,
    [orderId],
  );
  await pool.query(
    `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request, terms, expires_at)
     VALUES ($1, 'bulk', 'completed', 900001, 900002, '\\x5120'::bytea || sha256('a'), 'a', 'wallet', 1, '{}', '{}', '{}', now())`,
    [orderId],
  );
  await pool.query(
    `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
     VALUES (sha256('r'), $1, 'reveal', 0, 2, '', '{"inputs": [], "outputs": []}', 1)`,
    [orderId],
  );
  const txid = createHash('sha256').update('r').digest().reverse().toString('hex');
  const named = { inscribed_by: 'Satscribe' };
  expect((await http.get('/get-collection-json?id=delivered')).body).toEqual([
    { id: `${txid}i0`, meta: { name: 'delivered #7', attributes: named } },
    { id: `${txid}i1`, meta: { name: 'delivered #3', attributes: named } },
  ]);
  const onchain = await http.get<{ meta: object }[]>('/get-collection-json?id=delivered&onchainFormat=true');
  expect(onchain.body[0]?.meta).toEqual({
    name: 'delivered #7',
    attributes: [{ trait_type: 'inscribed_by', value: 'Satscribe' }],
  });
  expect((await http.get<Shown>('/collection?id=delivered')).body['inscribedCount']).toBe(2);
  const allocation = await http.post('/getallocation', { id: 'delivered', receiveAddress: addressOf(5) });
  expect(allocation.body).toEqual({
    phases: [{ phaseId: 'public', public: 1, allocation: -1, inscribedCount: 2, paidItemCount: 2 }],
  });
});

test('an item keeps its number if another could not be delivered', async () => {
  const { pool } = http.database;
  await insertCollection(pool, { id: 'gaps', items: 4 });
  const orderId = randomUUID();
  await pool.query(
    `INSERT INTO service.mint_orders (order_id, collection, phase, items, numbers, is_requested, script, price, standing)
     VALUES ($1, 'gaps', 'public', 3, '{4,1,2}', true, '\\x51', 0, 'allowed')`,
    [orderId],
  );
  await pool.query(
    `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request, terms, expires_at)
     VALUES ($1, 'bulk', 'completed', 900003, 900004, '\\x5120'::bytea || sha256('b'), 'b', 'wallet', 1, '{}', '{}', '{}', now())`,
    [orderId],
  );
  // the sat of the second file was lost, so only its reveal was given up
  await pool.query(
    `INSERT INTO service.wallet_transactions (txid, order_id, kind, index, files, bytes, plan, fee)
     SELECT sha256(convert_to('gap ' || n, 'UTF8')), $1, 'reveal', n, 1, '', '{"inputs": [], "outputs": []}', 1
       FROM unnest('{0,2}'::integer[]) AS n`,
    [orderId],
  );
  const { body } = await http.get<{ meta: { name: string } }[]>('/get-collection-json?id=gaps');
  expect(body.map(({ meta }) => meta.name)).toEqual(['gaps #4', 'gaps #2']);
});

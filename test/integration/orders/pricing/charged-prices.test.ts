import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bech32, bech32m } from '@scure/base';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepItems } from '#collections/selling/sold-items.store.ts';
import { exampleId } from '#http/parameters/list-parameters.ts';
import type { Discount, DiscountedFee, KeyTerms } from '#kernel/contracts/asking-key.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type FileSpec, insertCollection } from '#test/support/collections/collection-rows.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

let http: OrdersApp;
const idOf = (byte: string): string => `${byte.repeat(32)}i0`;
/** Inscriptions of the index. Each of them is in an output. */
const known = ['a1', 'a2', 'a3'];

beforeAll(async () => {
  // only orders of collections have a fee for each item
  http = await createOrdersApp(null, null, {
    prices: { ...defaultPriceSettings, collectionServiceFee: 2_500 },
  });
  const { pool } = http.database;
  for (const [key, txid] of [...known.map((byte) => byte.repeat(32)), exampleId.slice(0, 64)].entries()) {
    await pool.query(
      `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid) VALUES ($1, 0, 0, 0, 0, 0, $2)`,
      [key, Buffer.from(txid, 'hex').reverse()],
    );
    await pool.query(
      `INSERT INTO chain.locations (key, height, sat_offset, value, step, vout, place, script) VALUES ($1, 0, 0, 10000, 0, 0, 0, $2)`,
      [key, Buffer.alloc(34, 0x51)],
    );
  }
  // several parents are accepted if the index knows runes
  await pool.query(
    "INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('runes', 0, true)",
  );
  await http.post('/referrals', { referral: 'shop', address: addressOf(720) });
});
afterAll(() => http.close());

const addresses = [
  addressOf(700),
  addressOf(701),
  'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
];
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
/** Numbers, which clients may also send as texts. */
const numeric = (min: number, max: number): fc.Arbitrary<number | string> =>
  fc.integer({ min, max }).chain((value) => fc.constantFrom<number | string>(value, String(value)));
const data = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
/** Random bytes, and long texts that brotli makes shorter. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 1200 }),
  fc.integer({ min: 1, max: 6000 }).map((length) => Buffer.alloc(length, 'abc ')),
);
const metadata = maybe(
  fc
    .oneof(fc.jsonValue({ maxDepth: 2 }), fc.integer({ min: 1, max: 900 }).map('x'.repeat.bind('x')))
    .map((value) => data('application/json', Buffer.from(JSON.stringify(value)))),
);
/** Fields that have no effect, and do not depend on the body. */
const ignored = fc.record(
  {
    baseFee: numeric(0, 9),
    price: numeric(0, 9),
    rareSatsFee: numeric(0, 9),
    serviceFee: numeric(0, 9),
    collectionServiceFee: numeric(0, 9),
    chainFee: numeric(0, 9),
    amount: numeric(0, 9),
    sizeFee: numeric(0, 9),
    additionalFeeCharged: numeric(0, 9),
    discounts: fc.constant([{ discount: 100, parameter: 'baseFee', type: 'percentage' }]),
  },
  { requiredKeys: [] },
);
const shared = { metadataDataURL: metadata, metaprotocol: maybe(fc.constantFrom('p', 'brc-20')) };
const file = fc
  .record({
    name: fc.constantFrom('a.txt', 'b.png', 'c.svg', 'd.json', 'e.HTML'),
    // the size is often wrong, because only the real content counts
    size: maybe(numeric(0, 5000)),
    type: maybe(fc.constant('plain/text')),
    content,
    ...shared,
    ignored,
  })
  .map(({ content: bytes, ignored: more, ...fields }) => ({
    ...more,
    ...fields,
    dataURL: data('text/plain', bytes),
  }));
const delegate = fc.record({
  delegateId: fc.constantFrom(...known).map(idOf),
  dataURL: maybe(content.map((bytes) => data('text/html', bytes))),
  ...shared,
});
const items = fc
  .record({ files: fc.array(file, { maxLength: 3 }), delegates: fc.array(delegate, { maxLength: 2 }) })
  .filter(({ files, delegates }) => files.length + delegates.length > 0);
const parents = fc.subarray(known, { maxLength: 2 }).chain((bytes) =>
  fc.tuple(
    ...bytes.map((byte) =>
      fc.record({
        inscriptionId: fc.constant(idOf(byte)),
        returnAddress: fc.constantFrom(...addresses),
        value: numeric(546, 70_000),
      }),
    ),
  ),
);
const order = items.chain((given) =>
  fc
    .record({
      receiveAddress: fc.oneof(
        fc.constantFrom(...addresses),
        fc.array(fc.constantFrom(...addresses), {
          minLength: given.files.length + given.delegates.length,
          maxLength: given.files.length + given.delegates.length,
        }),
      ),
      parents: maybe(parents),
      fee: maybe(fc.oneof(numeric(1, 400), fc.constantFrom('2.5', 0.75, '10.125'))),
      postage: maybe(numeric(546, 10_000)),
      lowPostage: maybe(fc.constantFrom<boolean | string>(true, 'true', false)),
      batchMode: maybe(fc.constantFrom('separate-outputs', 'shared-output')),
      burnAfterInscribe: maybe(fc.constantFrom(true, false, false)),
      uncurseIt: maybe(fc.constantFrom<boolean | string>(true, 'true', false)),
      compress: maybe(fc.boolean()),
      inscriptionIdPrefix: maybe(fc.constant('0')),
      rareSats: maybe(fc.constant('random')),
      timeout: maybe(fc.constantFrom(10, '4320')),
      refundAddress: maybe(fc.constantFrom(...addresses)),
      allowedSatributes: maybe(fc.constantFrom([], ['uncommon'])),
      charity: maybe(fc.record({ referral: fc.constant('shop'), additionalFee: maybe(numeric(0, 5000)) })),
      ignored,
    })
    .map(({ charity, ignored: more, ...fields }) => ({ ...more, ...given, ...fields, ...charity })),
);

const fees: readonly DiscountedFee[] = ['baseFee', 'rareSatsFee', 'collectionServiceFee'];
const discounts: fc.Arbitrary<Discount[]> = fc.subarray([...fees]).chain((parameters) =>
  fc.tuple(
    ...parameters.map(
      (parameter): fc.Arbitrary<Discount> =>
        fc.oneof(
          fc
            .integer({ min: 1, max: 12_000 })
            .map((discount): Discount => ({ discount, parameter, type: 'fixed' })),
          fc
            .integer({ min: 1, max: 10_000 })
            .map((hundredths): Discount => ({ discount: hundredths / 100, parameter, type: 'percentage' })),
        ),
    ),
  ),
);
const terms: fc.Arbitrary<Partial<KeyTerms> | null> = fc.option(
  fc.record(
    {
      baseFee: fc.integer({ min: 0, max: 20_000 }),
      directBaseFee: fc.integer({ min: 0, max: 5000 }),
      discounts,
    },
    { requiredKeys: [] },
  ),
);

type Answer = Readonly<Record<string, unknown>> & { readonly charge?: { readonly amount: number } };

async function headersOf(keyTerms: Partial<KeyTerms> | null): Promise<Record<string, string>> {
  if (keyTerms === null) return {};
  return { 'x-api-key': (await giveKey(http.database.pool, { scopes: ['orders'], terms: keyTerms })).key };
}

/** The parts of a price that an order shows. */
function partsOf(body: Answer): object {
  const { chainFee, serviceFee, baseFee, rareSatsFee = 0, additionalFeeCharged, postage } = body;
  return { chainFee, serviceFee, baseFee, rareSatsFee, additionalFeeCharged, postage };
}

/** Serves one content, until the server's scope ends. */
async function serving(content: Uint8Array): Promise<{ readonly origin: string } & AsyncDisposable> {
  const server = createServer((_request, response) => response.end(content));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

interface Door {
  readonly url: string;
  readonly type: 'direct' | 'bulk';
}
const doors: readonly Door[] = [
  { url: '/inscribe', type: 'direct' },
  { url: '/order', type: 'bulk' },
];

describe.each(doors)('POST /price of type $type', ({ url, type }) => {
  test(`is the charge of ${url} for the same body, with any terms of the key`, async () => {
    await fc.assert(
      fc.asyncProperty(order, terms, async (body, keyTerms) => {
        const headers = await headersOf(keyTerms);
        const priced = await http.post<Answer>('/price', { type, order: body }, headers);
        const made = await http.post<Answer>(url, body, headers);
        expect(priced.status).toBe(made.status);
        if (made.status !== 200) {
          expect(priced.body).toEqual(made.body);
          return;
        }
        const { amount, ...charged } = priced.body;
        expect({ ...partsOf(made.body), amount: made.body.charge?.amount }).toEqual({
          ...partsOf(charged),
          amount,
        });
        for (const part of Object.values(partsOf(priced.body))) expect(part).toBeGreaterThanOrEqual(0);
        expect(priced.body).not.toHaveProperty('warnings');
        // the stored order is the order that is paid
        const { body: read } = await http.get<Answer>(`/order/${String(made.body['id'])}`);
        expect({ ...partsOf(read), amount: read.charge?.amount }).toEqual({ ...partsOf(charged), amount });
      }),
      propertyBounds(60),
    );
  });

  test('warns if the order may cost another amount', async () => {
    const bytes = Buffer.alloc(350_000, 'abc ');
    await using server = await serving(bytes.subarray(0, 3000));
    const ask = async (terms: object): Promise<{ codes: string[]; priced: number; charged: number }> => {
      const body = { receiveAddress: addresses[0], fee: 5, ...terms };
      const priced = await http.post<Answer>('/price', { type, order: body });
      const made = await http.post<Answer>(url, body);
      const warnings = (priced.body['warnings'] ?? []) as { code: string }[];
      return {
        codes: warnings.map(({ code }) => code),
        priced: priced.body['amount'] as number,
        charged: made.body.charge!.amount,
      };
    };
    const at = (size: number): object => ({
      files: [{ name: 'a.txt', url: `${server.origin}/a.txt`, size }],
    });
    const right = await ask(at(3000));
    expect(right).toEqual({ codes: ['assumed'], priced: right.charged, charged: right.charged });
    const wrong = await ask(at(30));
    expect(wrong).toEqual({ codes: ['assumed'], priced: wrong.priced, charged: right.charged });
    expect(wrong.priced).toBeLessThan(wrong.charged);
    const files = [{ name: 'a.txt', dataURL: data('text/plain', bytes) }];
    const long = await ask({ files, compress: true });
    expect(long.codes).toEqual(['compress-not-counted']);
    expect(long.charged).toBeLessThan(long.priced);
    const plain = await ask({ files });
    expect(plain).toEqual({ codes: [], priced: long.priced, charged: long.priced });
  });
});

test('GET /price equals POST /price for such text files, with the terms of the key', async () => {
  const queries = fc.record(
    {
      type: fc.constantFrom('bulk', 'direct'),
      size: fc.integer({ min: 0, max: 90_000 }),
      count: fc.integer({ min: 1, max: 40 }),
      fee: fc.constantFrom(1, 2.5, '40', 0.125),
      additionalFee: fc.integer({ min: 0, max: 9000 }),
      postage: fc.integer({ min: 330, max: 10_000 }),
      lowPostage: fc.boolean(),
      batchMode: fc.constantFrom('separate-outputs', 'shared-output'),
      rareSats: fc.constant('random'),
    },
    { requiredKeys: ['size'] },
  );
  await fc.assert(
    fc.asyncProperty(queries, terms, async ({ size, count = 1, type, ...others }, keyTerms) => {
      const headers = await headersOf(keyTerms);
      const files = Array.from({ length: count }, (_, index) => ({
        name: 'a.txt',
        size: Math.floor(size / count) + (index < size % count ? 1 : 0),
      }));
      const order = { files, referral: 'shop', ...others };
      const posted = await http.post<Answer>('/price', { ...(type && { type }), order }, headers);
      const query = { size, count, ...(type && { type }), ...others };
      const url = `/price?${new URLSearchParams(Object.entries(query).map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
      const read = (await http.app.inject({ url, headers })).json<Answer>();
      expect(posted.status).toBe(200);
      const { chainFee, serviceFee, baseFee, rareSatsFee, additionalFee, postage, amount } = posted.body;
      expect(read).toEqual({
        chainFee,
        serviceFee,
        baseFee,
        rareSatsFee,
        additionalFee,
        postage,
        amount,
        totalFee: amount,
      });
    }),
    propertyBounds(40),
  );
});

test('baseFee in the query of GET /price changes only that answer', async () => {
  const ask = async (query: string): Promise<Answer> => (await http.get<Answer>(`/price?${query}`)).body;
  expect((await ask('size=1&baseFee=5'))['baseFee']).toBe(5);
  expect((await ask('size=1'))['baseFee']).toBe(9000);
  const files = [{ name: 'a.txt', size: 1 }];
  const posted = await http.post<Answer>('/price?baseFee=5', { baseFee: 5, order: { files, baseFee: 5 } });
  expect(posted.body['baseFee']).toBe(9000);
});

const text = fc
  .oneof(
    fc.string({ minLength: 1, unit: 'grapheme' }),
    fc.constant('gm'),
    content.map((bytes) => `x${Buffer.from(bytes).toString('hex')}`),
  )
  .filter((value) => value.isWellFormed() && !value.includes('\0'));

test('POST /price with texts is the charge of /textorder, with any terms of the key', async () => {
  const orders = fc.record({
    texts: fc.array(text, { minLength: 1, maxLength: 4 }),
    receiveAddress: fc.constantFrom(...addresses),
    fee: maybe(numeric(1, 400)),
    postage: maybe(numeric(546, 10_000)),
    compress: maybe(fc.boolean()),
    batchMode: maybe(fc.constantFrom('separate-outputs', 'shared-output')),
  });
  await fc.assert(
    fc.asyncProperty(orders, ignored, terms, async (given, more, keyTerms) => {
      const body = { ...more, ...given };
      const headers = await headersOf(keyTerms);
      const priced = await http.post<Answer>('/price', { order: body }, headers);
      const made = await http.post<Answer>('/textorder', body, headers);
      expect([priced.status, made.status]).toEqual([200, 200]);
      expect(partsOf(made.body)).toEqual(partsOf(priced.body));
      expect(made.body.charge?.amount).toBe(priced.body['amount']);
      expect(priced.body).not.toHaveProperty('warnings');
    }),
    propertyBounds(15),
  );
});

interface Documented {
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: object;
        readonly examples: Readonly<Record<string, { readonly value: object }>>;
      };
    };
  };
}

/** A mainnet address of the document, converted to regtest. */
const onRegtest = (address: string): string => {
  const encoding = address.startsWith('bc1p') ? bech32m : bech32;
  return encoding.encode('bcrt', encoding.decode(address as `bc1${string}`).words);
};

describe('the examples of the document', () => {
  test.each([
    ['/inscribe', 'direct'],
    ['/order', 'bulk'],
    ['/textorder', 'bulk'],
    ['/runes/etch', 'rune-etch'],
    ['/price', null],
  ])('of POST %s match its schema, are accepted, and cost their price', async (url, type) => {
    await using server = await serving(Buffer.alloc(557, 'a'));
    const { paths } = (await http.get<{ paths: Record<string, { post: Documented }> }>('/openapi.json')).body;
    const { schema, examples } = paths[url]!.post.requestBody.content['application/json'];
    expect(JSON.stringify(schema)).not.toContain('acceptedForm');
    const validator = Compile(schema);
    expect(Object.keys(examples).length).toBeGreaterThan(1);
    for (const [name, { value }] of Object.entries(examples)) {
      expect([name, ...validator.Errors(value)]).toEqual([name]);
      const sent = JSON.parse(
        JSON.stringify(value)
          .replaceAll(/bc1[0-9a-z]{20,}/gu, onRegtest)
          .replaceAll('https://files.example.com', server.origin),
      ) as object;
      const answer = await http.post<Answer>(url, sent);
      if (name === 'mints') {
        // the index of this service has no blocks; a service that can mint accepts the request (mints.test.ts)
        expect([name, answer.status]).toEqual([name, 503]);
        expect(JSON.stringify(answer.body)).toContain('the index of mints of runes is still being built');
        continue;
      }
      if (name === 'inventory') {
        // this service has no inventory; a service with an inventory accepts the request (inventory-orders.test.ts)
        expect([name, answer.status]).toEqual([name, 503]);
        expect(JSON.stringify(answer.body)).toContain('rareSats is not possible, because');
        continue;
      }
      expect([name, answer.status, answer.body['error'] ?? answer.body['reason']]).toEqual([
        name,
        200,
        undefined,
      ]);
      if (type === null) continue;
      const priced = await http.post<Answer>('/price', { type, order: sent });
      expect([name, answer.body.charge?.amount]).toEqual([name, priced.body['amount']]);
    }
  });
});

describe('POST /price of items of a collection', () => {
  /**
   * Contents with lengths at which a push gets another opcode, and types that may make a shorter content more
   * expensive.
   */
  const art = fc.tuple(
    fc.oneof(fc.constantFrom(1, 75, 76, 255, 256, 519, 520, 521, 1040), fc.integer({ min: 1, max: 1_300 })),
    fc.constantFrom('text/plain;charset=utf-8', 'image/png', `text/html;a=${'x'.repeat(80)}`),
  );
  const wanted = fc.record({
    items: fc.array(art, { minLength: 2, maxLength: 12 }),
    price: fc.integer({ min: 0, max: 9_000 }),
    count: fc.integer({ min: 1, max: 3 }),
    isNamed: fc.boolean(),
    more: fc.record(
      {
        fee: fc.oneof(numeric(1, 200), fc.constantFrom('2.5')),
        postage: numeric(546, 10_000),
        rareSats: fc.constant('random'),
        timeout: fc.constantFrom(10, '30'),
      },
      { requiredKeys: [] },
    ),
    charity: maybe(fc.record({ referral: fc.constant('shop'), additionalFee: maybe(numeric(0, 5_000)) })),
    keyTerms: terms,
  });
  let collections = 0;

  async function selling(items: readonly (readonly [number, string])[], price: number): Promise<string> {
    const id = `priced-${++collections}`;
    const stored = new CustomerFiles(http.filesDir);
    const files: FileSpec[] = [];
    for (const [place, [bytes, mediaType]] of [...items, ...items].entries()) {
      const sha256 = await stored.put(Buffer.alloc(bytes, `${place} of ${bytes} `));
      files.push({ sha256, bytes, mediaType });
    }
    const creatorAddress = addressOf(730);
    await insertCollection(http.database.pool, { id, items: files.length, price, creatorAddress, files });
    return id;
  }

  test('is the charge of /collectionorder for named items, and at least that for drawn ones', async () => {
    const seen = { exact: 0, dearer: 0 };
    await fc.assert(
      fc.asyncProperty(wanted, async ({ items, price, count: most, isNamed, more, charity, keyTerms }) => {
        const id = await selling(items, price);
        const { key } = await giveKey(http.database.pool, {
          scopes: ['orders'],
          terms: keyTerms ?? {},
          rate: '0',
        });
        // half of the remaining items, while nothing is paid
        const count = Math.min(most, items.length);
        const named = Array.from({ length: count }, (_, nth) => nth + 1).toReversed();
        const collection = { id, ...(isNamed ? { requestedIds: named } : { count: String(count) }) };
        const body = { collection, receiveAddress: addresses[0], ...more, ...charity };
        const headers = { 'x-api-key': key };
        const priced = await http.post<Answer>('/price', { order: body }, headers);
        const made = await http.post<Answer>('/collectionorder', body, headers);
        expect([priced.status, made.status, made.body]).toEqual([200, 200, expect.anything()]);
        const [asked, charged] = [priced.body['amount'] as number, made.body.charge!.amount];
        const { price: creators, collectionServiceFee } = made.body;
        expect(priced.body).toMatchObject({ price: creators, collectionServiceFee });
        expect(creators).toBe(price);
        expect(collectionServiceFee).toBeLessThanOrEqual(2_500);
        if (isNamed) {
          expect({ ...partsOf(made.body), amount: charged }).toEqual({
            ...partsOf(priced.body),
            amount: asked,
          });
          expect(priced.body).not.toHaveProperty('warnings');
          seen.exact++;
        } else {
          expect(asked).toBeGreaterThanOrEqual(charged);
          expect(priced.body['warnings']).toEqual([expect.objectContaining({ code: 'drawn' })]);
          if (asked > charged) seen.dearer++;
        }
        const { body: read } = await http.get<Answer>(`/order/${String(made.body['id'])}`);
        expect(read.charge?.amount).toBe(charged);
        await withTransaction(http.database.pool, (tx) => keepItems(tx, String(made.body['id']), false));
      }),
      propertyBounds(40),
    );
    expect(Math.min(seen.exact, seen.dearer)).toBeGreaterThan(0);
  });

  test('has the discounts of a key, and only for that key', async () => {
    const id = await selling(
      [
        [100, 'image/png'],
        [100, 'image/png'],
      ],
      1_000,
    );
    const ask = async (keyDiscounts: Discount[] | null): Promise<Answer> => {
      const headers = await headersOf(keyDiscounts === null ? null : { discounts: keyDiscounts });
      const order = { collection: { id, requestedIds: [1, 2] }, receiveAddress: addresses[0], fee: 3 };
      return (await http.post<Answer>('/price', { order }, headers)).body;
    };
    const full = await ask(null);
    const less = await ask([
      { parameter: 'collectionServiceFee', discount: 50, type: 'percentage' },
      { parameter: 'baseFee', discount: 100, type: 'percentage' },
    ]);
    expect([full, less].map(({ collectionServiceFee, price }) => [collectionServiceFee, price])).toEqual([
      [2_500, 1_000],
      [1_250, 1_000],
    ]);
    expect(less['baseFee']).toBe(0);
    const saved = 2 * (1_250 + Number(full['baseFee']));
    expect(Number(full['amount']) - Number(less['amount'])).toBe(saved);
  });
});

import type { TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import {
  createdOfConsumer,
  legacyPriceOfConsumer,
  managedChargeOfConsumer,
  orderOfConsumer,
  priceOfConsumer,
} from '#test/support/orders/consumer-shapes.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

const receiver = 810;
/** The headers of client 0.1.4, which sends an empty API key. */
const oldClient = { 'x-api-key': '', 'user-agent': 'npm-inscription-v0.1.4' };
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const faultsOf = (schema: TSchema, value: unknown): unknown[] =>
  [...Errors(schema, value)].map(({ instancePath, message }) => `${instancePath} ${message}`);

const bytesOf = (dataURL: string): number => Buffer.from(dataURL.split(',')[1]!, 'base64').length;

interface SentBody extends Readonly<Record<string, unknown>> {
  readonly files: readonly ({ readonly dataURL: string } & Readonly<Record<string, unknown>>)[];
}

interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number; readonly address?: string };
  readonly fee: unknown;
  readonly files: readonly { readonly size: number; readonly mimeType?: string }[];
}

describe('bodies that consumers send', () => {
  let orders: OrdersApp;
  beforeAll(async () => {
    orders = await createOrdersApp();
  });
  afterAll(() => orders?.close());

  test('a price by lengths only, as a typed client asks for it', async () => {
    const file = { size: 12_345, name: 'nft.png', type: 'image/png', metadataSize: 0 };
    const order = {
      files: [file],
      postage: 546,
      receiveAddress: addressOf(receiver),
      rareSats: 'random',
      compress: false,
      fee: 5,
    };
    for (const type of ['direct', 'bulk']) {
      const { status, body } = await orders.post('/price', { type, order }, oldClient);
      expect([status, faultsOf(priceOfConsumer, body)]).toEqual([200, []]);
    }
  });

  test.each([
    'size=557&fee=8',
    'size=557&fee=8&count=1&rareSats=random&type=direct&batchMode=separate-outputs&additionalFee=0&postage=546',
    'size=580&fee=9&lowPostage=true&baseFee=2000',
  ])('a price of the query %s', async (query) => {
    const { status, body } = await orders.get(`/price?${query}`);
    expect([status, faultsOf(legacyPriceOfConsumer, body)]).toEqual([200, []]);
  });

  const fileOf = (name: string, type: string, base64: string) => ({
    name,
    type,
    dataURL: `data:${type};base64,${base64}`,
  });
  const hello = Buffer.from('héllo').toString('base64');
  /** Bodies of clients: the fields in addition to the address, and the fee in responses. */
  const bodies: readonly (readonly [string, SentBody, string | number])[] = [
    [
      'a numeric text as fee, and characters as size',
      { files: [{ ...fileOf('a.txt', 'plain/text', hello), size: 5 }], fee: '10' },
      '10',
    ],
    [
      'the length of base64 as size',
      { files: [{ ...fileOf('a.png', 'image/png', png), size: Math.floor((png.length * 3) / 4) }], fee: 5 },
      5,
    ],
    [
      'sizes as texts',
      { files: [{ ...fileOf('a.txt', 'text/plain', hello), size: '6' }], fee: '60', postage: '546' },
      '60',
    ],
    [
      'fields of wallets, and empty ones',
      {
        files: [
          { ...fileOf('a.txt', 'plain/text', hello), size: 6, lastModified: 1, webkitRelativePath: '' },
        ],
        fee: 5,
        walletProvider: 'xverse',
        lowPostage: false,
        rareSats: 'random',
        compress: false,
        timeout: 4320,
        inscriptionIdPrefix: null,
        referral: null,
        additionalFee: null,
        projectTag: null,
      },
      5,
    ],
  ];

  test.each(bodies)('an order with %s', async (_, fields, fee) => {
    for (const path of ['/inscribe', '/order']) {
      const sent = { receiveAddress: addressOf(receiver), ...fields };
      const { status, body } = await orders.post<Created>(path, sent, oldClient);
      expect([path, status, faultsOf(createdOfConsumer, body)]).toEqual([path, 200, []]);
      expect(body.fee).toBe(fee);
      if (path === '/order') expect(faultsOf(managedChargeOfConsumer, body.charge)).toEqual([]);
      else expect(body.charge).toEqual({ amount: body.charge.amount });
      // a consumer reads the order once, a second later, and uses the address
      const { body: read } = await orders.get<Created>(`/order?id=${body.id}`);
      expect(faultsOf(orderOfConsumer, read)).toEqual([]);
      expect(read.charge.amount).toBe(body.charge.amount);
      // the service counts the size again, even if the client sent another size
      expect(read.files.map(({ size }) => size)).toEqual([bytesOf(fields.files[0]!.dataURL)]);
    }
  });

  test('an order of texts, to one address as a text', async () => {
    const sent = { texts: ['gm', 'gn'], receiveAddress: addressOf(receiver), fee: '2', postage: 546 };
    const { status, body } = await orders.post<Created>('/textorder', sent, oldClient);
    expect([status, faultsOf(createdOfConsumer, body)]).toEqual([200, []]);
    expect(faultsOf(managedChargeOfConsumer, body.charge)).toEqual([]);
  });

  test.each(['inscription.svg+xml', 'image.bin'])(
    'a file %s is refused, and no id is given',
    async (name) => {
      const files = [{ ...fileOf(name, 'application/octet-stream', hello), size: 6 }];
      for (const path of ['/inscribe', '/order']) {
        const { status, body } = await orders.post<object>(path, {
          files,
          receiveAddress: addressOf(receiver),
        });
        expect([status, body]).toEqual([
          400,
          { error: [{ msg: expect.stringContaining('files[0].name has an extension') as string }] },
        ]);
      }
    },
  );

  test('an unknown order is an error in the body, not in the status', async () => {
    const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
    const { status, body } = await orders.get(`/order?id=${id}`);
    expect([status, body]).toEqual([200, { status: 'error', error: `no such order ${id}` }]);
  });
});

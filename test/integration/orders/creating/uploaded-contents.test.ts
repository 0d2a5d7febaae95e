import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

interface Uploaded {
  readonly url: string;
  readonly s3Key: string;
  readonly sha256: string;
}

let http: OrdersApp;
let key: string;
beforeAll(async () => {
  http = await createOrdersApp();
  ({ key } = await giveKey(http.database.pool, { scopes: ['orders'], rate: '0' }));
});
afterAll(() => http.close());

async function upload(name: string, payload: string): Promise<Uploaded> {
  const url = `/files/${name}`;
  const answer = await http.app.inject({ method: 'PUT', url, payload, headers: { 'x-api-key': key } });
  return answer.json();
}
const pathOf = ({ s3Key }: Pick<Uploaded, 's3Key'>): string => `/files/${encodeURIComponent(s3Key)}`;

describe('an order that names an upload by its URL', () => {
  interface Answer {
    readonly error?: readonly { readonly msg: string }[];
    readonly id: string;
    readonly amount: number;
    readonly charge: { readonly amount: number };
    readonly warnings?: readonly { readonly code: string }[];
    readonly files: readonly {
      readonly s3Key: string;
      readonly size: number;
      readonly metadataSize: number;
    }[];
  }
  const orderOf = (...files: readonly object[]) => ({ files, receiveAddress: addressOf(700), fee: 3 });
  const messagesOf = ({ error }: Answer): string[] => (error ?? []).map(({ msg }) => msg);

  test('has its bytes from disk, as content and as metadata, at the quoted price', async () => {
    const [page, json] = [
      await upload('page.html', '<p>page</p>'.repeat(400)),
      await upload(
        'traits.json',
        JSON.stringify({ color: 'red', traits: Array.from({ length: 300 }, (_, at) => at) }),
      ),
    ];
    const spy = vi.spyOn(OutgoingHttp.prototype, 'get');
    try {
      const order = orderOf(
        { name: 'page.html', url: page.url, metadataUrl: json.url },
        { name: 'again.html', url: `${page.url}?again`, metadataUrl: `http://LOCALHOST/files/${json.s3Key}` },
      );
      for (const [path, type] of [
        ['/inscribe', 'direct'],
        ['/order', 'bulk'],
      ] as const) {
        const { body: made } = await http.post<Answer>(path, order);
        expect(messagesOf(made)).toEqual([]);
        expect(made.files).toMatchObject([
          { size: 4_400, metadataSize: expect.any(Number) as number },
          { size: 4_400 },
        ]);
        expect(made.files[0]!.metadataSize).toBeGreaterThan(300);
        const { body: priced } = await http.post<Answer>('/price', { type, order });
        expect([priced.amount, priced.warnings]).toEqual([made.charge.amount, undefined]);
        const read = await http.app.inject({ url: pathOf(made.files[0]!) });
        expect(read.body).toBe('<p>page</p>'.repeat(400));
      }
      expect(spy).not.toHaveBeenCalled();
    } finally {
      spy.mockRestore();
    }
  });

  test('may also name the file of an order', async () => {
    const sent = {
      name: 'a.txt',
      dataURL: `data:text/plain;base64,${Buffer.from('first').toString('base64')}`,
    };
    const { body: first } = await http.post<Answer>('/inscribe', orderOf(sent));
    const url = `http://localhost${pathOf(first.files[0]!)}`;
    const { body: second } = await http.post<Answer>('/inscribe', orderOf({ name: 'b.txt', url }));
    expect(second.files[0]!.size).toBe(5);
  });

  test('is refused for a file that is gone, unknown, or not metadata', async () => {
    const [gone, text] = [await upload('gone.txt', 'gone'), await upload('text.txt', 'no JSON')];
    await rm(join(http.filesDir, gone.sha256.slice(0, 2), gone.sha256));
    const spy = vi.spyOn(OutgoingHttp.prototype, 'get');
    try {
      const unknown = 'names no file of this service; store a file with PUT /files/<name>';
      const deleted =
        'names a file of this service that was deleted because nothing used it; upload the file again';
      const order = orderOf(
        { name: 'a.txt', url: gone.url, metadataUrl: gone.url },
        { name: 'a.txt', url: 'http://localhost:80/files/nothing' },
        { name: 'a.txt', url: 'http://localhost:80/files/a%00b' },
        { name: 'a.txt', url: 'http://localhost:80/files/%zz' },
        { name: 'a.txt', url: 'http://localhost:80/files/../files/a/b' },
        { name: 'a.txt', url: text.url, metadataUrl: text.url },
      );
      const expected = [
        `files[0].url ${deleted}`,
        `files[0].metadataUrl ${deleted}`,
        ...[1, 2, 3, 4].map((place) => `files[${place}].url ${unknown}`),
        'files[5].metadataUrl: its response is not JSON in UTF-8',
      ].toSorted();
      for (const [path, body] of [
        ['/inscribe', order],
        ['/price', { type: 'direct', order }],
      ] as const) {
        const answer = await http.post<Answer>(path, body);
        expect(answer.status).toBe(400);
        expect(messagesOf(answer.body).toSorted()).toEqual(expected);
      }
      expect(spy).not.toHaveBeenCalled();
    } finally {
      spy.mockRestore();
    }
  });

  test('has a price that reads a bounded amount of metadata, and assumes the rest', async () => {
    const json = await upload('long.json', JSON.stringify('m'.repeat(370_000)));
    const fileOf = (more: object = {}) => ({
      name: 'a.txt',
      dataURL: 'data:text/plain,a',
      metadataUrl: json.url,
      ...more,
    });
    const price = (...files: readonly object[]) => http.post<Answer>('/price', { order: orderOf(...files) });
    const two = await price(fileOf(), fileOf());
    expect([two.status, two.body.warnings]).toEqual([200, undefined]);
    const three = await price(fileOf(), fileOf(), fileOf());
    expect(messagesOf(three.body)).toEqual(['files[2].metadataSize is required.']);
    const assumed = await price(fileOf(), fileOf(), fileOf({ metadataSize: 370_005 }));
    expect(assumed.body.warnings).toMatchObject([{ code: 'assumed' }]);
  });
});

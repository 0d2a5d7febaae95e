import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';
import {
  type BadInput,
  dataUrls,
  file,
  good,
  id,
  badInputs as inputs,
  parent,
  receiver,
  text,
} from './bad-inputs.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

interface Refusal {
  readonly error?: readonly { readonly msg: string }[];
}

const asJson = { 'content-type': 'application/json' };
const told = ({ error = [] }: Refusal): string => error[0]?.msg ?? '';

/** Tables of `service` that change with time, or with each request. */
const changing = ['key_usage', 'instance', 'node_policy', 'orders_offset', 'payments_offset'];
let countRows = '';
/** Row counts of all other tables: orders, files, watched scripts, reserved sats, stored responses. */
async function rowsStored(): Promise<object> {
  const { pool } = http.database;
  if (countRows === '') {
    const { rows } = await pool.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'service' AND tablename <> ALL($1)",
      [changing],
    );
    countRows = `SELECT ${rows.map(({ name }) => `(SELECT count(*) FROM service.${name}) AS ${name}`).join()}`;
  }
  const { rows } = await pool.query<Record<string, number>>(countRows);
  return rows[0]!;
}

/** The same order with texts; `null` if the order is about files. */
function ofTexts({ body, ...input }: BadInput): BadInput | null {
  const { files, delegates, ...others } = body as { readonly files?: object; readonly delegates?: object };
  return files === good.files && delegates === undefined
    ? { ...input, body: { ...others, texts: ['hello'] } }
    : null;
}
const textInputs: readonly BadInput[] = [
  ...inputs.flatMap((input) => ofTexts(input) ?? []),
  {
    name: '51 MB of texts',
    body: { ...good, files: undefined, texts: ['A'.repeat(51_000_000)] },
    says: 'texts have 51000000 bytes, but one request may have at most 50000000',
  },
];
/** The paths that create orders. */
const doors = [
  { url: '/inscribe', type: 'direct', bad: inputs },
  { url: '/order', type: 'bulk', bad: inputs },
  { url: '/textorder', type: 'bulk', bad: textInputs },
];

describe.each(doors)('bad input of POST $url', ({ url, type, bad }) => {
  test.for(bad)('$name is refused with its reason, and nothing is created', async ({ body, says }) => {
    const before = await rowsStored();
    const answer = await http.post<Refusal>(url, body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(told(answer.body).slice(0, says.length)).toBe(says);
    expect(await rowsStored()).toEqual(before);
  });

  test.for(bad.filter(({ only }) => only === undefined))(
    '$name is refused by POST /price in the same words',
    async ({ body, says }) => {
      const answer = await http.post<Refusal>('/price', { type, order: body });
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(told(answer.body).slice(0, says.length)).toBe(says);
    },
  );

  test.for(bad.filter(({ only }) => only !== undefined))(
    '$name does not change a price',
    async ({ body }) => {
      expect((await http.post('/price', { type, order: body })).status).toBe(200);
    },
  );
});

describe('bad input', () => {
  test('all faults are in one answer, each field once', async () => {
    const body = {
      files: [
        { name: 'a.txt', dataURL: 'data:x' },
        { name: 'b.bin', dataURL: text },
      ],
      receiveAddress: [receiver, receiver, receiver],
      fee: 0,
      postage: 329,
      additionalFee: 5,
      inscriptionIdPrefix: 'XYZ',
      uncurseIt: 'perhaps',
      parents: [parent, parent],
    };
    const words = [
      'files[0].dataURL must have the form data:<media type>;base64,<data>',
      'files[1].name has an extension',
      'additionalFee is only valid with a referral',
      'uncurseIt must be true or false',
      'inscriptionIdPrefix must be',
      'fee must be from',
      'postage must be from',
      `Parent ${id} is named twice.`,
    ];
    const expectTold = ({ error = [] }: Refusal, more: readonly string[]): void => {
      const messages = error.map(({ msg }) => msg);
      for (const begin of [...words, ...more])
        expect(
          messages.filter((message) => message.startsWith(begin)),
          begin,
        ).toHaveLength(1);
      expect(messages).toHaveLength(words.length + more.length);
    };
    const more = { timeout: 1, webhookUrl: 'ftp://example.com', refundAddress: 'nowhere' };
    const order = { ...body, ...more };
    expectTold((await http.post<Refusal>('/price', { type: 'direct', order })).body, Object.keys(more));
    expectTold((await http.post<Refusal>('/inscribe', order)).body, Object.keys(more));
  });

  test('numbers that lose digits are refused with their fields, before there is a price', async () => {
    // JSON.stringify cannot write such numbers
    const sent = JSON.stringify({ ...good, fee: 'F', files: [{ ...file, size: 'S', note: 'N' }] });
    const order = sent
      .replace('"F"', '2.0000000000000000001')
      .replace('"S"', '1e400')
      .replace('"N"', '-1e-400');
    for (const [url, payload] of [
      ['/inscribe', order],
      ['/price', `{"order":${order}}`],
    ] as const) {
      const answer = await http.app.inject({ method: 'POST', url, payload, headers: asJson });
      const told = answer.json<Refusal>().error!.map(({ msg }) => msg);
      expect(answer.statusCode).toBe(400);
      expect(told).toEqual(
        ['files[0].size', 'files[0].note', 'fee'].map(
          (name) => `${name} is a number that cannot be kept exactly; send it as a text`,
        ),
      );
    }
  });

  test('a data URL is accepted by a price and an order, or refused by both in the same words', async () => {
    const parts = fc.constantFrom(
      'aGVs',
      'bG8=',
      '-_',
      '+/',
      ' ',
      '\r\n',
      '%3D',
      '%',
      '@',
      '#',
      'é',
      '\0',
      '\ud800',
    );
    const urls = fc
      .tuple(
        fc.constantFrom('data:,', 'data:text/plain;base64,', 'data:;name="a,b.txt";base64,', 'data;'),
        fc.array(parts, { minLength: 1, maxLength: 5 }),
      )
      .map(([head, data]) => head + data.join(''));
    const verdict = async (url: string, dataURL: string) => {
      const order = { ...good, files: [{ ...file, dataURL }] };
      const { status, body } = await http.post<Refusal>(url, url === '/price' ? { order } : order);
      return { status, told: body.error?.map(({ msg }) => msg) };
    };
    await fc.assert(
      fc.asyncProperty(urls, async (url) => {
        expect(await verdict('/price', url)).toEqual(await verdict('/inscribe', url));
      }),
      {
        numRuns: propertyRuns(25),
        examples: [...Object.values(dataUrls), 'data:image/svg+xml,%3Csvg/%3E'].map((url): [string] => [url]),
      },
    );
  });

  test.each([
    ['URL-safe base64', 'urlsafe', '\xfb\xff\xfe'],
    ['escaped padding', 'percent', 'hello'],
    ['line breaks', 'wrapped', 'hello'],
    ['no padding', 'unpadded', 'hello'],
  ])('a data URL with %s is inscribed as its bytes', async (_name, name, content) => {
    const made = await http.post<{ files: { url: string }[] }>('/inscribe', {
      ...good,
      files: [{ ...file, dataURL: dataUrls[name] }],
    });
    expect(made.status).toBe(200);
    const { pathname } = new URL(made.body.files[0]!.url);
    const served = await http.app.inject({ url: pathname });
    expect(served.rawPayload).toEqual(Buffer.from(content, 'latin1'));
  });

  test('a short text is read from a large body as from a small one', async () => {
    const large = { name: 'b.txt', size: 1, dataURL: `data:;base64,${'A'.repeat(300_000)}` };
    const projectTag = 'ü'.repeat(4000);
    const order = { ...good, files: [file, large, large, large, large], projectTag };
    const made = await http.post<{ projectTag: string; error?: unknown }>('/inscribe', order);
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    expect(made.body.projectTag).toBe(projectTag);
    const long = await http.post<Refusal>('/inscribe', { ...order, projectTag: 'ü'.repeat(4097) });
    expect(long.body.error).toEqual([{ msg: 'projectTag has more than 4096 characters' }]);
  });

  test.each([
    ['/files/%00', 400, 'key has a NUL character (U+0000)\n'],
    ['/files/a%00b', 400, 'key has a NUL character (U+0000)\n'],
    ['/order/%00', 200, 'no such order'],
    ['/order?id=%00', 200, 'no such order'],
    ['/order/events?id=%00', 200, 'no such order'],
    ['/referrals?referral=%00&address=%00', 200, 'referral has a NUL character (U+0000)'],
    ['/price?size=%00', 200, 'size must be a whole number'],
    ['/price?size=5&rareSats=%00', 200, 'rareSats has a NUL character (U+0000)'],
  ])('%s does not fail the server', async (url, status, words) => {
    const answer = await http.app.inject({ url });
    expect([answer.statusCode, answer.body]).toEqual([status, expect.stringContaining(words)]);
  });

  test('no bytes in headers fail the server', async () => {
    for (const name of [
      'idempotency-key',
      'x-api-key',
      'authorization',
      'cookie',
      'host',
      'if-none-match',
      'range',
    ])
      for (const value of ['\u0080\u00ff', 'é', '"', '%00', 'x'.repeat(5000)]) {
        const { status } = await http.post('/inscribe', good, { [name]: value });
        expect([name, value, status < 500]).toEqual([name, value, true]);
        const read = await http.app.inject({ url: '/files/none', headers: { [name]: value } });
        expect([name, value, read.statusCode]).toEqual([name, value, 404]);
      }
  });

  test('of a thousand faults fifty are shown', async () => {
    const files = Array.from({ length: 1000 }, () => ({ name: 'a.bin', dataURL: 'x' }));
    const body = { ...good, files, timeout: 1, fee: 0 };
    expect((await http.post<Refusal>('/inscribe', body)).body.error).toHaveLength(50);
    expect((await http.post<Refusal>('/price', { order: body })).body.error).toHaveLength(50);
  });

  test('satributes are shown as they were sent', async () => {
    const asked = { ...good, allowedSatributes: ['block-9', 'uncommon'] };
    const made = await http.post<{ id: string; allowedSatributes: unknown }>('/inscribe', asked);
    expect(made.status).toBe(200);
    expect(made.body.allowedSatributes).toEqual(asked.allowedSatributes);
    const read = await http.get<{ allowedSatributes: unknown }>(`/order/${made.body.id}`);
    expect(read.body.allowedSatributes).toEqual(asked.allowedSatributes);
    const without = await http.post<{ allowedSatributes: unknown }>('/inscribe', {
      ...good,
      allowedSatributes: [],
    });
    expect(without.body.allowedSatributes).toBeNull();
  });

  test('nothing is sent to an address of another order, or of a deposit', async () => {
    const made = await http.post<{ id: string }>('/inscribe', good);
    const { body: first } = await http.get<{ charge: { address: string } }>(`/order/${made.body.id}`);
    const { address } = first.charge;
    const stock = (await openPublicWallet(http.database.pool))!.inventoryAddress(7).address;
    const answer = await http.post<Refusal>('/inscribe', {
      ...good,
      receiveAddress: address,
      refundAddress: stock,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toEqual([
      { msg: 'receiveAddress is an address of this service, which sends nothing to itself.' },
      { msg: 'refundAddress is an address of this service, which sends nothing to itself.' },
    ]);
    const share = await http.post<Refusal>('/referrals', { referral: 'ours', address: stock });
    expect(share).toMatchObject({
      status: 400,
      body: { error: [{ msg: 'address is an address of this service, which sends nothing to itself.' }] },
    });
  });

  test.each([1, '1', true, 'true'])('uncurseIt %j is shown as it was read', async (uncurseIt) => {
    const made = await http.post<{ id: string; uncurseIt: unknown }>('/inscribe', { ...good, uncurseIt });
    expect(made.body.uncurseIt).toBe(true);
    expect((await http.get<{ uncurseIt: unknown }>(`/order/${made.body.id}`)).body.uncurseIt).toBe(true);
  });

  test('a name of 4,000 characters is a file that its URL serves', async () => {
    const name = `${'ü'.repeat(1000)}${'🟧'.repeat(1400)}.txt`;
    const made = await http.post<{ files: { url: string; name: string }[] }>('/inscribe', {
      ...good,
      files: [{ ...file, name }],
    });
    expect(made.status).toBe(200);
    const [shown] = made.body.files;
    expect(shown!.name).toBe(name);
    const { pathname } = new URL(shown!.url);
    expect((await http.app.inject({ url: pathname })).body).toBe('hello');
  });
});

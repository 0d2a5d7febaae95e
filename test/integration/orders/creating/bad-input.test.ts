import { bech32 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
}, 120_000);
afterAll(() => http.close());

interface Refusal {
  readonly error?: readonly { readonly msg: string }[];
}

const text = 'data:text/plain;base64,aGVsbG8=';
const file = { name: 'a.txt', size: 5, dataURL: text };
const good = { files: [file], receiveAddress: addressOf(700), fee: 2 };
const id = `${'ab'.repeat(32)}i0`;
const parent = { inscriptionId: id, returnAddress: addressOf(701), value: 10_000 };
const p2pkh = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const receiver = addressOf(700);
/** Version 1 with the checksum of version 0 (BIP 350). */
const oldChecksum = bech32.encode('bcrt', [1, ...bech32.toWords(scriptOf(700).slice(2))]);
const json = (value: unknown): string =>
  `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`;
/** 51 MB, once decoded. */
const huge = `data:text/plain;base64,${'A'.repeat(68_000_000)}`;

interface BadInput {
  readonly name: string;
  readonly body: object;
  /** What the first fault says. */
  readonly says: string;
  /** Prices depend on it, or only orders do. */
  readonly only?: 'orders';
}

const inputs: readonly BadInput[] = [
  {
    name: '10,001 files',
    body: { ...good, files: Array.from({ length: 10_001 }, () => file) },
    says: 'files and delegates are 10001: an order has at most 10000',
  },
  {
    name: '51 MB',
    body: { ...good, files: [{ name: 'a.txt', size: 1, dataURL: huge }] },
    says: 'files hold 51000000 bytes in data URLs: one call takes 50000000 at most',
  },
  {
    name: 'neither files nor delegates',
    body: { ...good, files: undefined },
    says: 'An order needs files or delegates.',
  },
  {
    name: 'a satribute that there is not',
    body: { ...good, allowedSatributes: ['uncommon', 'shiny'] },
    says: 'allowedSatributes[1]: shiny is no satribute: GET /satributes lists them.',
    only: 'orders',
  },
  {
    name: 'a satribute whose sats nobody lists',
    body: { ...good, allowedSatributes: ['legacy'] },
    says: 'allowedSatributes[0]: which sats are legacy is not known.',
    only: 'orders',
  },
  {
    name: 'a satribute of another network',
    body: { ...good, allowedSatributes: ['nakamoto'] },
    says: 'allowedSatributes[0]: no sat of regtest is nakamoto.',
    only: 'orders',
  },
  {
    name: 'a satribute without a name',
    body: { ...good, allowedSatributes: [null] },
    says: 'allowedSatributes[0] is required.',
    only: 'orders',
  },
  { name: 'no files', body: { ...good, files: [] }, says: 'An order needs files or delegates.' },
  {
    name: 'receivers of another count',
    body: { ...good, files: [file, file, file], receiveAddress: [receiver, receiver] },
    says: 'receiveAddress names 2 addresses: it must be one, or one for each of the 3 files.',
  },
  {
    name: 'an empty receiver',
    body: { ...good, receiveAddress: '' },
    says: 'receiveAddress is required.',
    only: 'orders',
  },
  {
    name: 'an empty list of receivers',
    body: { ...good, receiveAddress: [] },
    says: 'receiveAddress is required.',
    only: 'orders',
  },
  {
    name: 'an address in mixed case',
    body: { ...good, receiveAddress: `${receiver.slice(0, -1)}${receiver.slice(-1).toUpperCase()}Q` },
    says: 'receiveAddress ',
  },
  {
    name: 'version 1 with the checksum of version 0',
    body: { ...good, receiveAddress: oldChecksum },
    says: 'receiveAddress ',
  },
  {
    name: 'an address of another network',
    body: { ...good, receiveAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    says: 'receiveAddress ',
  },
  {
    name: 'an anchor',
    body: { ...good, receiveAddress: 'bcrt1pfeesnyr2tx' },
    says: 'receiveAddress is an anchor, which anybody can spend',
  },
  {
    name: 'an anchor, though it is not used',
    body: { ...good, burnAfterInscribe: true, receiveAddress: 'bcrt1pfeesnyr2tx' },
    says: 'receiveAddress is an anchor, which anybody can spend',
  },
  {
    name: 'more than an anchor may hold',
    body: {
      ...good,
      burnAfterInscribe: true,
      batchMode: 'shared-output',
      postage: 10_000,
      files: [file, file],
    },
    says: 'burnAfterInscribe puts at most 10000 sats into one output, not 20000: use batchMode separate-outputs, or less postage.',
  },
  {
    name: 'a special sat that would be burned',
    body: { ...good, burnAfterInscribe: true, allowedSatributes: ['uncommon'] },
    says: 'allowedSatributes: with burnAfterInscribe the special sat would be burned.',
    only: 'orders',
  },
  { name: 'an OP_RETURN', body: { ...good, receiveAddress: '6a0568656c6c6f' }, says: 'receiveAddress ' },
  {
    name: 'a postage of 329',
    body: { ...good, postage: 329 },
    says: 'postage must be from 330 to 10000 sats.',
  },
  {
    name: 'a postage of 10,001',
    body: { ...good, postage: '10001' },
    says: 'postage must be from 330 to 10000 sats.',
  },
  {
    name: 'a postage that is dust',
    body: { ...good, postage: 545, receiveAddress: p2pkh },
    says: 'postage of 545 sats is dust: nodes relay no less than 546 sats to a P2PKH address.',
  },
  {
    name: 'a fee of 0',
    body: { ...good, fee: 0 },
    says: 'fee must be from 0.1 to 10000 sats for a virtual byte.',
  },
  { name: 'a fee of 0.0001', body: { ...good, fee: 0.0001 }, says: 'fee has more than three decimals' },
  {
    name: 'a fee of 1e9',
    body: { ...good, fee: 1e9 },
    says: 'fee must be from 0.1 to 10000 sats for a virtual byte.',
  },
  { name: 'a fee that is no number', body: { ...good, fee: 'NaN' }, says: 'fee must be a number above 0' },
  {
    name: 'an additional fee for nobody',
    body: { ...good, additionalFee: 100 },
    says: 'additionalFee is only valid with a referral',
  },
  {
    name: 'an unknown referral',
    body: { ...good, referral: 'nobody' },
    says: 'The referral nobody is not known: POST /referrals registers one.',
    only: 'orders',
  },
  {
    name: 'a prefix of 5',
    body: { ...good, inscriptionIdPrefix: 'abcde' },
    says: 'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
  },
  {
    name: 'a prefix in upper case',
    body: { ...good, inscriptionIdPrefix: 'AB' },
    says: 'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
  },
  {
    name: 'a delegate in upper case',
    body: { ...good, delegates: [{ delegateId: id.toUpperCase() }] },
    says: 'delegates[0].delegateId is not an inscription id: <txid>i<index>, in lower case',
  },
  {
    name: 'a delegate that the index does not have',
    body: { ...good, delegates: [{ delegateId: id }] },
    says: `The delegate ${id} is not an inscription`,
    only: 'orders',
  },
  {
    name: 'a parent in upper case',
    body: { ...good, parents: [{ ...parent, inscriptionId: id.toUpperCase() }] },
    says: 'parents[0].inscriptionId is not an inscription id: <txid>i<index>, in lower case',
  },
  {
    name: 'a parent twice',
    body: { ...good, parents: [parent, parent] },
    says: `Parent ${id} is named twice.`,
  },
  {
    name: 'a parent that does not fit through dust',
    body: { ...good, parents: [{ ...parent, value: 300 }] },
    says: `The value of parent ${id} is 300 sats, but nodes relay no less than 330`,
  },
  {
    name: 'uncurseIt with two parents',
    body: {
      ...good,
      uncurseIt: true,
      parents: [parent, { ...parent, inscriptionId: `${'cd'.repeat(32)}i0` }],
    },
    says: 'uncurseIt is not possible with more than one parent',
  },
  {
    name: 'uncurseIt in a shared output',
    body: { ...good, uncurseIt: true, files: [file, file], batchMode: 'shared-output' },
    says: 'uncurseIt is not possible with batchMode shared-output',
  },
  {
    name: 'uncurseIt with long metadata',
    body: { ...good, uncurseIt: true, files: [{ ...file, metadataDataURL: json('x'.repeat(600)) }] },
    says: 'uncurseIt is not possible with more than 520 bytes of metadata (file 1)',
  },
  {
    name: 'metadata that is no JSON',
    body: { ...good, files: [{ ...file, metadataDataURL: text }] },
    says: 'files[0].metadataDataURL does not hold JSON in UTF-8',
  },
  {
    name: 'a metaprotocol that is no UTF-8',
    body: { ...good, files: [{ ...file, metaprotocol: '\ud800' }] },
    says: 'files[0].metaprotocol is not valid Unicode',
  },
  {
    name: 'a data URL without base64',
    body: { ...good, files: [{ ...file, dataURL: 'data:text/plain,hello' }] },
    says: 'files[0].dataURL must be of the form data:<media type>;base64,<data>',
  },
  {
    name: 'an extension that cannot be inscribed',
    body: { ...good, files: [{ ...file, name: 'inscription.svg+xml' }] },
    says: 'files[0].name has an extension that cannot be inscribed: files are of ',
  },
  {
    name: 'a webhook in a private network',
    body: { ...good, webhookUrl: 'http://127.0.0.1:8080/hook' },
    says: 'webhookUrl: ',
    only: 'orders',
  },
  {
    name: 'a webhook that is not http',
    body: { ...good, webhookUrl: 'ftp://example.com/hook' },
    says: 'webhookUrl: ',
    only: 'orders',
  },
  {
    name: 'a refund to nobody',
    body: { ...good, refundAddress: 'nowhere' },
    says: 'refundAddress ',
    only: 'orders',
  },
  {
    name: 'a time of 15 minutes',
    body: { ...good, timeout: 15 },
    says: 'timeout is in minutes: a multiple of 10',
    only: 'orders',
  },
  ...['files', 'delegates', 'parents'].map((name) => ({
    name: `a text in place of ${name}`,
    body: { ...good, [name]: 'x' },
    says: `${name} must be a list`,
  })),
  {
    name: 'an object in place of an address',
    body: { ...good, receiveAddress: {} },
    says: 'receiveAddress must be a text',
  },
  {
    name: 'a text in place of a file',
    body: { ...good, files: ['a.txt'] },
    says: 'files[0] must be an object',
  },
];

const rowsOfOrders = async (): Promise<number> => {
  const { rows } = await http.database.pool.query<{ count: number }>('SELECT count(*) FROM service.orders');
  return rows[0]!.count;
};

describe('bad input', () => {
  test.for(inputs)(
    '$name is refused by POST /inscribe, in plain words, and nothing is made',
    async ({ body, says }) => {
      const before = await rowsOfOrders();
      const answer = await http.post<Refusal>('/inscribe', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(answer.body.error![0]!.msg.slice(0, says.length)).toBe(says);
      expect(await rowsOfOrders()).toBe(before);
    },
  );

  test.for(inputs.filter(({ only }) => only === undefined))(
    '$name is refused by POST /price',
    async ({ body, says }) => {
      const answer = await http.post<Refusal>('/price', { type: 'direct', order: body });
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(answer.body.error![0]!.msg.slice(0, says.length)).toBe(says);
    },
  );

  test.for(inputs.filter(({ only }) => only !== undefined))(
    '$name does not matter to a price',
    async ({ body }) => {
      expect((await http.post('/price', { type: 'direct', order: body })).status).toBe(200);
    },
  );

  test('all faults are told together, each field once', async () => {
    const body = {
      files: [
        { name: 'a.txt', dataURL: 'data:,x' },
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
    const told = [
      'files[0].dataURL must be of the form data:<media type>;base64,<data>',
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
      for (const words of [...told, ...more])
        expect(
          messages.filter((message) => message.startsWith(words)),
          words,
        ).toHaveLength(1);
      expect(messages).toHaveLength(told.length + more.length);
    };
    expectTold((await http.post<Refusal>('/price', { type: 'direct', order: body })).body, []);
    const more = { timeout: 1, webhookUrl: 'ftp://example.com', refundAddress: 'nowhere' };
    const wrong = await http.post<Refusal>('/inscribe', { ...body, ...more });
    expectTold(wrong.body, Object.keys(more));
  });

  test('of a thousand faults fifty are told', async () => {
    const files = Array.from({ length: 1000 }, () => ({ name: 'a.bin', dataURL: 'x' }));
    const body = { ...good, files, timeout: 1, fee: 0 };
    expect((await http.post<Refusal>('/inscribe', body)).body.error).toHaveLength(50);
    expect((await http.post<Refusal>('/price', { order: body })).body.error).toHaveLength(50);
  });

  test('satributes are shown again as they were sent', async () => {
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

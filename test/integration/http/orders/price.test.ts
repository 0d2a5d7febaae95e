import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { type TestAccess, testAccess } from '#test/support/http/search-access.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

const receiver = 'bcrt1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqvg32hk';
const p2wpkh = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const p2pkh = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const mainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const anchor = 'bcrt1pfeesnyr2tx';
const id = `${'ab'.repeat(32)}i0`;

let http: HttpApp;
beforeAll(async () => {
  http = await createHttpApp([]);
});
afterAll(() => http.close());

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, never>>;
}

async function post(body: unknown, query = ''): Promise<Answer> {
  const answer = await http.app.inject({
    method: 'POST',
    url: `/price${query}`,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  });
  return { status: answer.statusCode, body: answer.json() };
}

async function get(query: string): Promise<Answer> {
  const answer = await http.app.inject({ url: `/price?${query}` });
  return { status: answer.statusCode, body: answer.json() };
}

const file = { name: 'a.txt', size: 100 };
const order = { files: [file], receiveAddress: receiver, fee: 5 };
const dataUrl = (bytes: number): string =>
  `data:text/plain;base64,${Buffer.alloc(bytes, 65).toString('base64')}`;

describe('POST /price', () => {
  test('answers requests of the public client by the formula', async () => {
    const { status, body } = await post({
      type: 'direct',
      order: {
        files: [{ size: 557, name: 'cube.html', type: 'plain/text', metadataSize: 0 }],
        postage: 546,
        receiveAddress: receiver,
        rareSats: 'random',
        compress: false,
        fee: 5,
        walletProvider: 'unknown',
      },
    });
    expect(status).toBe(200);
    // 321 virtual bytes, which docs/orders-api.md explains
    expect(body).toEqual({
      chainFee: 1605,
      baseFee: 2000,
      serviceFee: 2546,
      sizeFee: 0,
      rareSatsFee: 0,
      additionalFee: 0,
      additionalFeeCharged: 0,
      postage: 546,
      count: 1,
      price: 0,
      collectionServiceFee: 0,
      discounts: [],
      amount: 4151,
      warnings: [{ code: 'assumed', message: expect.stringContaining('the content of files[0].') as string }],
    });
  });

  test('is for managed orders by default, with a part of the chain fee', async () => {
    const { body } = await post({
      order: { ...order, files: [file, file], referral: 'r', additionalFee: '7' },
    });
    const { chainFee, sizeFee, serviceFee, amount } = body as unknown as Record<string, number>;
    expect(sizeFee).toBe(Math.floor(chainFee! / 10));
    expect(serviceFee).toBe(2 * (9000 + 546) + 14 + sizeFee!);
    expect(amount).toBe(serviceFee! + chainFee!);
    expect(body).toMatchObject({ baseFee: 9000, additionalFee: 7, additionalFeeCharged: 14, count: 2 });
  });

  test('is the same for a file as for its size, and corrects a wrong size', async () => {
    const ask = (item: object) => post({ type: 'direct', order: { ...order, files: [item] } });
    const bySize = await ask({ name: 'a.txt', size: '2500' });
    const { warnings, ...exact } = bySize.body;
    expect(warnings).toHaveLength(1);
    const byContent = { status: 200, body: exact };
    expect(await ask({ name: 'a.txt', size: 3, dataURL: dataUrl(2500) })).toEqual(byContent);
    expect(await ask({ name: 'a.txt', dataURL: dataUrl(2500) })).toEqual(byContent);
    expect(await ask({ name: 'a.txt', url: 'https://example.com/a.txt', size: 2500 })).toEqual(bySize);
    expect((await ask({ name: 'a.txt', url: 'https://example.com/a.txt' })).body).toEqual({
      error: [{ msg: 'files[0].size is required.' }],
    });
  });

  test('accepts large bodies, whose files stay bytes', async () => {
    const files = [{ name: 'a.txt', dataURL: dataUrl(300_000) }];
    const large = await post({ order: { ...order, files: [...files, ...files, ...files, ...files] } });
    const size = { name: 'a.txt', size: 300_000 };
    expect(large.status).toBe(200);
    const { warnings: _, ...bySize } = (await post({ order: { ...order, files: [size, size, size, size] } }))
      .body;
    expect(large.body).toEqual(bySize);
  });

  test('accepts delegates, parents, metadata, and an address for each file', async () => {
    const { status, body } = await post({
      type: 'direct',
      order: {
        delegates: [{ delegateId: id, metaprotocol: 'p' }, { delegateId: `${'cd'.repeat(32)}i256` }],
        receiveAddress: [receiver, p2wpkh],
        parents: [{ inscriptionId: id, returnAddress: p2pkh, value: '10000' }],
        fee: '2.5',
        metadata: {},
      },
    });
    expect([status, (body as unknown as Record<string, number>)['count']]).toEqual([200, 2]);
    const json = Buffer.from('{"a":"é"}').toString('base64');
    const metadataDataURL = `data:application/json;base64,${json}`;
    expect((await post({ order: { ...order, files: [{ ...file, metadataDataURL }] } })).status).toBe(200);
  });

  test('compresses sent contents if that is shorter', async () => {
    const ask = async (compress: boolean, name: string): Promise<number> => {
      const files = [{ name, dataURL: dataUrl(20_000) }];
      const { body } = await post({ type: 'direct', order: { ...order, files, compress } });
      return (body as unknown as Record<string, number>)['chainFee']!;
    };
    expect(await ask(true, 'a.txt')).toBeLessThan((await ask(false, 'a.txt')) / 10);
    expect(await ask(true, 'a.png')).toBe(await ask(false, 'a.png'));
  });

  test('with plan=1 has the transactions, warnings and savings', async () => {
    const files = [file, file, file];
    const { body } = await post({ type: 'direct', order: { ...order, files, compress: true } }, '?plan=1');
    const { transactions, warnings, savings, amount, amountPerFile, chainFee } = body as unknown as {
      transactions: { kind: string; weight: number; vsize: number; fee: number }[];
      warnings: { code: string }[];
      savings: { code: string; sats: number }[];
    } & Record<string, number>;
    expect(transactions).toEqual([{ kind: 'reveal', files: 3, firstFile: 0, ...weights(transactions[0]!) }]);
    expect(transactions[0]!.fee).toBe(chainFee);
    expect(transactions[0]!.vsize * 5).toBe(chainFee);
    expect(warnings.map(({ code }) => code)).toEqual(['vindicated', 'assumed', 'compress-not-counted']);
    expect(amountPerFile).toBe(Math.ceil(amount! / 3));
    expect(savings.map(({ code }) => code)).toEqual(['shared-output']);
    const shared = await post({ type: 'direct', order: { ...order, files, batchMode: 'shared-output' } });
    expect(savings[0]!.sats).toBe(amount! - (shared.body as unknown as Record<string, number>)['amount']!);
  });

  test('with plan=1 has the savings by brotli and delegates', async () => {
    const known = await createHttpApp([
      {
        height: 0,
        rows: [{ name: 'known', type: 'text/plain;charset=utf-8', body: 'A'.repeat(5000) }],
      },
    ]);
    try {
      const ask = async (terms: object) => {
        const files = [{ name: 'a.txt', dataURL: dataUrl(5000) }];
        const payload = { type: 'direct', order: { ...order, files, ...terms } };
        const answer = await known.app.inject({ method: 'POST', url: '/price?plan=1', payload });
        return answer.json<{ amount: number; savings: { code: string; sats: number }[] }>();
      };
      const plain = await ask({});
      const brotli = await ask({ compress: true });
      const delegate = await ask({ files: [], delegates: [{ delegateId: idOf('known') }] });
      expect(plain.savings.map(({ code, sats }) => [code, sats])).toEqual([
        ['compress', plain.amount - brotli.amount],
        ['delegates', plain.amount - delegate.amount],
      ]);
    } finally {
      await known.close();
    }
  });

  const weights = ({ weight, vsize, fee }: { weight: number; vsize: number; fee: number }) => ({
    weight,
    vsize,
    fee,
  });

  test.each<[string, object]>([
    ['rune is required.', { type: 'rune-mint', order: { receiveAddress: order.receiveAddress } }],
    ['type must be one of bulk, direct, rune-etch, rune-mint', { type: 'both', order }],
    ['order must be an object', {}],
    ['order must be an object', { order: [] }],
    ['An order needs files or delegates.', { order: { receiveAddress: receiver } }],
    ['An order needs files or delegates.', { order: { ...order, files: [] } }],
    ['files must be a list', { order: { ...order, files: 'a' } }],
    ['files[0] must be an object', { order: { ...order, files: ['a'] } }],
    [
      'files and delegates are 10001, but an order has at most 10000',
      { order: { ...order, files: Array(10_001).fill(file) } },
    ],
    [
      'files[0].size must be a whole number of at least 0',
      { order: { ...order, files: [{ ...file, size: -1 }] } },
    ],
    [
      'files[0].size must be a whole number of at least 0',
      { order: { ...order, files: [{ ...file, size: 1.5 }] } },
    ],
    [
      'files[0].dataURL must have the form data:<media type>;base64,<data>',
      { order: { ...order, files: [{ ...file, dataURL: 'data:text/plain' }] } },
    ],
    [
      'files[0].metadataDataURL is not JSON in UTF-8',
      { order: { ...order, files: [{ ...file, metadataDataURL: dataUrl(3) }] } },
    ],
    [
      'receiveAddress has 2 addresses, but must have one.',
      { order: { ...order, receiveAddress: [receiver, receiver] } },
    ],
    ['receiveAddress belongs to another network', { order: { ...order, receiveAddress: mainnet } }],
    ['receiveAddress is an anchor, which anybody can spend', { order: { ...order, receiveAddress: anchor } }],
    [
      'receiveAddress is not a Bitcoin address',
      { order: { ...order, receiveAddress: `B${p2wpkh.slice(1)}` } },
    ],
    ['receiveAddress must be a text', { order: { ...order, receiveAddress: 5 } }],
    ['postage must be from 330 to 10000 sats.', { order: { ...order, postage: 329 } }],
    ['postage must be from 330 to 10000 sats.', { order: { ...order, postage: '10001' } }],
    [
      'postage of 400 sats is dust, because nodes relay at least 546 sats to a P2PKH address.',
      { order: { ...order, postage: 400, receiveAddress: p2pkh } },
    ],
    ['fee must be from 0.1 to 10000 sats per virtual byte.', { order: { ...order, fee: 0 } }],
    ['fee has more than three decimals', { order: { ...order, fee: 0.0001 } }],
    ['fee must be from 0.1 to 10000 sats per virtual byte.', { order: { ...order, fee: 1e9 } }],
    ['fee must be a number above 0', { order: { ...order, fee: 'NaN' } }],
    ['additionalFee is only valid with a referral', { order: { ...order, additionalFee: 5 } }],
    [
      'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
      { order: { ...order, inscriptionIdPrefix: 'abcde' } },
    ],
    [
      'inscriptionIdPrefix must be 1 to 4 hex characters in lower case',
      { order: { ...order, inscriptionIdPrefix: 'AB' } },
    ],
    [
      'parents[0].inscriptionId is not an inscription id, which has the form <txid>i<index> in lower case',
      { order: { ...order, parents: [{ inscriptionId: id.toUpperCase() }] } },
    ],
    [
      `Parent ${'ab'.repeat(32)}i0 is named twice.`,
      { order: { ...order, parents: [{ inscriptionId: id }, { inscriptionId: id }] } },
    ],
    [
      'files[0].metadataSize is required.',
      { order: { ...order, files: [{ ...file, metadataUrl: 'https://example.com/a.json' }] } },
    ],
    [
      'The order needs 151 reveals, but an order has at most 150. Order its files in parts, or without uncurseIt.',
      { order: { ...order, uncurseIt: true, files: Array(151).fill(file) } },
    ],
    ['delegates[0].delegateId is required.', { order: { ...order, delegates: [{}] } }],
    [
      'uncurseIt is not possible with more than 520 bytes of metadata (file 1), because a repeated field is a curse.',
      { order: { ...order, uncurseIt: true, files: [{ ...file, metadataSize: 521 }] } },
    ],
    ['rareSats must be one of random, black, block286', { order: { ...order, rareSats: 'gold' } }],
    ['File 1 makes a transaction of 503', { order: { ...order, files: [{ name: 'a.png', size: 500_000 }] } }],
  ])('refuses: %s', async (message, body) => {
    const { status, body: answer } = await post(body);
    expect(status).toBe(400);
    const [first] = (answer as unknown as { error: { msg: string }[] }).error;
    expect(first?.msg.slice(0, message.length)).toBe(message);
  });

  test('has a warning for each assumption, and none if the request is complete', async () => {
    const whole = { name: 'a.txt', dataURL: dataUrl(10) };
    const ask = async (terms: object): Promise<string | undefined> => {
      const { body } = await post({ order: { ...order, files: [whole], ...terms } });
      const warnings = (body['warnings'] ?? []) as unknown as { code: string; message: string }[];
      expect(warnings.map(({ code }) => code)).toEqual(warnings.length === 0 ? [] : ['assumed']);
      return /does not know (?<what>.*?)\. It uses/u.exec(warnings[0]?.message ?? '')?.groups?.['what'];
    };
    expect(await ask({})).toBeUndefined();
    expect(await ask({ receiveAddress: undefined })).toBe('receiveAddress');
    expect(await ask({ receiveAddress: undefined, burnAfterInscribe: true })).toBeUndefined();
    expect(await ask({ files: [{ dataURL: whole.dataURL }] })).toBe('files[0].name');
    expect(
      await ask({ files: [whole, { ...whole, metadataUrl: 'https://example.com/a.json', metadataSize: 7 }] }),
    ).toBe('the metadata of files[1]');
    expect(await ask({ parents: [{ inscriptionId: id }] })).toBe(
      'parents[0].returnAddress, parents[0].value',
    );
    expect(await ask({ files: Array(7).fill(file) })).toMatch(/^the content of files\[0\], .* and 2 more$/u);
    expect(await ask({ files: [], delegates: [{ delegateId: id }] })).toBeUndefined();
  });

  test('media and files at URLs are never compressed, so their prices have no such warning', async () => {
    const files = [
      { name: 'a.png', dataURL: dataUrl(300_001) },
      { name: 'a.txt', url: 'https://example.com/a.txt', size: 10 },
      { name: 'b.txt', dataURL: dataUrl(299_000) },
    ];
    const { body } = await post({ order: { ...order, files, compress: true } });
    const codes = (body['warnings'] as unknown as { code: string }[]).map(({ code }) => code);
    expect(codes).toEqual(['assumed']);
  });

  test('refuses other file types with a list of valid ones, and lists all faults', async () => {
    const files = [
      { name: 'a.bin', size: 1 },
      { name: 'a.svg+xml', size: 1 },
      { name: 'txt.', size: 'x' },
    ];
    const { body } = await post({ order: { ...order, files, fee: '1,5' } });
    const faults = (body as unknown as { error: { msg: string }[] }).error.map(({ msg }) => msg);
    expect(faults.map((fault) => fault.slice(0, 29))).toEqual(
      [
        'files[0].name has an extension that',
        'files[1].name has an extension that',
        'files[2].name has an extension that',
        'files[2].size must be a whole number',
        'fee must be a number above 0, in digits',
      ].map((fault) => fault.slice(0, 29)),
    );
    expect(faults[0]).toContain('apng, asc, avif, css, flac, gif, glb, gz, html, jpeg, jpg, js, json, mp3');
  });
});

describe('GET /price', () => {
  test('only needs size and fee, and answers eight numbers', async () => {
    const { status, body } = await get('size=100&fee=2');
    expect(status).toBe(200);
    const numbers = body as unknown as Record<string, number>;
    expect(Object.keys(numbers)).toEqual([
      'chainFee',
      'serviceFee',
      'baseFee',
      'rareSatsFee',
      'additionalFee',
      'postage',
      'amount',
      'totalFee',
    ]);
    expect(numbers['serviceFee']).toBe(9000 + 546 + Math.floor(numbers['chainFee']! / 10));
    expect(numbers['totalFee']).toBe(numbers['amount']);
  });

  test('equals the price of POST for such files', async () => {
    const legacy = await get('size=301&fee=3.5&count=2&type=direct&additionalFee=10&postage=1000');
    const files = [
      { name: 'a.txt', size: 151 },
      { name: 'b.txt', size: 150 },
    ];
    const { body } = await post({
      type: 'direct',
      order: { files, fee: 3.5, postage: 1000, referral: 'r', additionalFee: 10 },
    });
    const { chainFee, serviceFee, amount } = body;
    expect(legacy.body).toMatchObject({ chainFee, serviceFee, amount, additionalFee: 10 });
  });

  test('accepts requests of older clients', async () => {
    const { body } = await get('size=100&fee=2&baseFee=15000&lowPostage=true&rareSats=random&count=1');
    expect(body).toMatchObject({ baseFee: 15_000, postage: 330 });
  });

  test.each([
    ['fee=2', 'size is required.'],
    ['count=1001&type=rune-mint', 'count must be from 1 to 1000'],
    ['type=direct', 'size is required.'],
    ['size=1&count=0', 'count must be from 1 to 10000'],
    ['size=1&count=10001', 'count must be from 1 to 10000'],
    ['size=1&fee=0', 'fee must be from 0.1 to 10000 sats per virtual byte.'],
    ['size=1&fee=-1', 'fee must be a number above 0'],
    ['size=1&size=2', 'size is given more than once'],
    ['size=1&postage=1', 'postage must be from 330 to 10000 sats.'],
    ['size=400000', 'File 1 makes a transaction of 40'],
  ])('has a fault in its body: %s', async (query, message) => {
    const { status, body } = await get(query);
    const { error = '', ...others } = body as unknown as Record<string, string>;
    expect([status, others, error.slice(0, message.length)]).toEqual([200, { status: 'error' }, message]);
  });
});

test.each(['bulk', 'direct'])(
  'special sats are not offered for %s orders without a wallet that has such sats',
  async (type) => {
    const reason = 'rareSats is not possible, because this service has no wallet with an inventory';
    const priced = await http.app.inject({
      method: 'POST',
      url: '/price',
      payload: { type, order: { ...order, rareSats: 'pizza' } },
    });
    const legacy = await http.app.inject({ url: `/price?type=${type}&size=10&rareSats=pizza` });
    for (const answer of [priced, legacy])
      expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'error', reason }]);
  },
);

test('prices have a limit of their own', async () => {
  let opened: TestAccess | undefined;
  const limited = await createHttpApp([], {
    access: ({ pool }) => {
      opened = testAccess(pool, { priceRate: '2/60' });
      return opened.access;
    },
  });
  try {
    const statuses: number[] = [];
    for (let ask = 0; ask < 3; ask++) {
      const { statusCode, headers } = await limited.app.inject({ url: '/price?size=1' });
      statuses.push(statusCode);
      if (statusCode === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([200, 200, 429]);
  } finally {
    await limited.close();
    await opened?.close();
  }
});

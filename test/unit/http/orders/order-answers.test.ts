import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import {
  createdCollectionOrder,
  createdDirect,
  createdEtching,
  createdManaged,
  order as orderSchema,
} from '#http/orders/order.schemas.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { parseSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { createdAnswer, type OrderProgress, orderAnswer } from '#orders/customers/order-answer.ts';
import type { Order } from '#orders/order/order.store.ts';
import { orderKinds } from '#orders/order/order-kind.ts';
import { orderStates } from '#orders/order/order-machine.ts';
import { storedTerms } from '#orders/order/stored-terms.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';

const createdAt = new Date(Date.UTC(2100, 0, 1));
const expiresAt = new Date(createdAt.getTime() + 3_600_000);
const id = `${'ab'.repeat(32)}i0`;
const url = 'https://example.com/a.json';
const sentParent = { inscriptionId: id, returnAddress: addressOf(701), value: '10000' };
const shown = {
  name: 'a.txt',
  size: 4,
  type: 'text/plain;charset=utf-8',
  mimeType: 'text/plain;charset=utf-8',
  metadataSize: 3,
  url: 'https://example.com/files/a',
  s3Key: 'a',
  nonStandardTx: true,
};
const made = wantedOrder(['text']);
const hexScript = Buffer.from(scriptOf(701)).toString('hex');

type Kind = Order['kind'];

/** An order without optional fields, as its row and as its creation have it. */
function sparse(kind: Kind): Order {
  return {
    id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
    kind,
    state: 'waiting-payment',
    address: addressOf(702),
    script: Buffer.from(scriptOf(702)),
    amount: BigInt(made.quote.amount),
    createdAt,
    expiresAt,
    paidAt: null,
    repriced: null,
    error: null,
    extraCost: 0n,
    webhookUrl: null,
    request: {
      ...made.request,
      receiveAddress: addressOf(700),
      ...(kind === 'bulk' ? { rareSats: null, compress: null, batchMode: null } : {}),
    },
    quote: made.quote,
    terms: storedTerms({ ...made.terms, type: kind }),
  } as unknown as Order;
}

/** An order with all fields, after every possible event. */
function full(kind: Kind): Order {
  const order = sparse(kind);
  return {
    ...order,
    paidAt: expiresAt,
    repriced: {
      at: 0,
      until: 1,
      before: 2,
      amount: 3,
      fromEstimate: 1500,
      toEstimate: 9125,
      feeRate: 9125,
    },
    error: 'the node refuses its reveal',
    webhookUrl: url,
    request: {
      ...order.request,
      count: 2,
      fee: '2.5',
      receiveAddress: [addressOf(700), addressOf(703)],
      delegates: [{ delegateId: id, metaprotocol: 'p', metadataUrl: url, metadataSize: '3' }],
      parents: [sentParent],
      inscriptionIdPrefix: '0',
      allowedSatributes: ['uncommon'],
      rareSats: 'uncommon',
      additionalFee: 5,
      referral: 'shop',
      refundAddress: addressOf(704),
      projectTag: 'tag',
      ...(kind === 'bulk' ? { compress: 'true', batchMode: 'separate-outputs' } : {}),
    },
    terms: { ...order.terms, parents: [{ id, value: '10000', returnScript: hexScript }] },
    quote: {
      ...order.quote,
      rareSatsFee: 7,
      heldUntil: 8,
      feeEstimate: 9_999_999,
      ...(kind === 'bulk' ? { fiatValue: 12.34 } : {}),
    },
  };
}

/** An order for items of a collection that has a creator. */
function ofCollection(): Order {
  const order = full('bulk');
  return {
    ...order,
    request: { ...order.request, collection: { id: 'moths', count: 2, type: 'random', items: [7, 3] } },
    quote: { ...order.quote, collectionServiceFee: 100, creator: { address: addressOf(707), price: 5000 } },
  };
}

const txidOf = (byte: number) => asTxid(new Uint8Array(32).fill(byte));
const hex = Buffer.from(scriptOf(705)).toString('hex');
const outputs = ['postage', 'postage', 'burn', 'burn'].map((kind) => ({ kind, value: 546, script: hex }));
const transaction = (kind: string, byte: number, more: object = {}) => ({
  txid: txidOf(byte),
  kind,
  index: 0,
  files: 2,
  plan: { inputs: [{ outpoint: `${'cd'.repeat(32)}:0`, value: 10_000 }], outputs },
  fee: 300,
  height: null,
  madeAt: createdAt,
  sentAt: expiresAt,
  refusal: null,
  ...more,
});
const refundOf = (byte: number) =>
  transaction('refund', byte, {
    plan: { inputs: [], outputs: [{ kind: 'refund', value: 1000, script: hex }] },
  });
const nothing = {
  files: [],
  transactions: [],
  mints: [],
  etched: null,
  payments: [],
  held: new Map(),
  parents: [],
  tokenOrder: null,
};

const charge = (kind: 'fee' | 'token', amount: bigint) =>
  ({
    kind,
    amount,
    address: kind,
    script: scriptOf(9),
    keyIndex: 1,
    state: 'payment_seen',
    txid: asTxid(new Uint8Array(32)),
  }) as const;
const inRunes = {
  ...nothing,
  files: [{ index: 0, shown }],
  tokenOrder: {
    id: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
    account: 'ada',
    createdAt,
    expiresAt,
    endsAt: expiresAt,
    state: 'pending',
    rune: { asset: 2, etching: asTxid(new Uint8Array(32)), name: 'UNCOMMON•GOODS', divisibility: 2 },
    baseFee: 0n,
    additionalFee: 0n,
    description: null,
    webhookUrl: null,
    successUrl: null,
    secretKey: null,
    charges: { fee: charge('fee', 5000n), token: charge('token', 12n) },
    inscription: { orderId: '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a12', paid: 'nothing' },
  },
} as const satisfies OrderProgress;

/** Progress of orders, by a name for each. */
const progresses: Readonly<Record<string, OrderProgress>> = {
  nothing: { ...nothing, files: [{ index: 0, shown }] },
  // the node refused the reveal, so it was not sent
  refused: {
    ...nothing,
    files: [
      { index: 0, shown },
      { index: 1, shown: {} },
    ],
    transactions: [transaction('reveal', 2, { sentAt: null, refusal: 'dust' })],
  } as unknown as OrderProgress,
  single: {
    ...nothing,
    files: [{ index: 0, shown }],
    transactions: [
      transaction('commit', 1),
      transaction('reveal', 2, { files: 1 }),
      transaction('burn', 3, { files: 1 }),
    ],
  } as unknown as OrderProgress,
  all: {
    files: [
      { index: 0, shown },
      { index: 1, shown: {} },
    ],
    transactions: [
      transaction('commit', 1),
      transaction('reveal', 2, { refusal: 'min relay fee not met' }),
      transaction('burn', 3),
      refundOf(4),
      refundOf(5),
    ],
    payments: [1n, 10_000_000n].map((value, vout) => ({
      txid: txidOf(6),
      vout,
      value,
      firstSeen: value === 1n ? createdAt : new Date(expiresAt.getTime() + 1),
      block: null,
      goneAt: null,
    })),
    held: new Map(),
    parents: [
      {
        depositAddress: addressOf(706),
        txid: 'ef'.repeat(32),
        vout: 0,
        parentReturnTx: 'ef'.repeat(32),
      },
    ],
    tokenOrder: null,
  } as unknown as OrderProgress,
};

/** An order that etches a rune. */
const etching = {
  ...plainEtching,
  rune: parseSpacedRune('SATSCRIBEEXAMPLE')!.rune,
  spacers: 1,
  symbol: 0x29_c9,
  divisibility: 2,
  premine: asU128(100_000n),
  terms: {
    amount: asU128(1_050n),
    cap: asU128(2_000n),
    heightStart: asU128(1n),
    heightEnd: asU128(2n ** 60n),
    offsetStart: asU128(3n),
    offsetEnd: asU128(4n),
  },
};
function ofEtching(order: Order): Order {
  return {
    ...order,
    request: { ...order.request, parents: null },
    terms: { ...order.terms, parents: [], etching: storedTerms({ ...made.terms, etching }).etching! },
  };
}

/** The responses of GET /order, for each kind and state. */
const answers = orderKinds.flatMap((kind) =>
  orderStates.flatMap((state) =>
    [sparse(kind), full(kind), ...(kind === 'bulk' ? [ofCollection()] : [])].flatMap((order) =>
      [
        ...Object.entries(progresses),
        ...(order.request.collection === undefined ? [] : [['in runes', inRunes] as const]),
      ].map(([name, progress]) => ({
        kind,
        name: `${kind}, ${state}, ${name}`,
        answer: asJson(orderAnswer({ ...order, state }, progress, networks.regtest, 'http://orders.test')),
      })),
    ),
  ),
);
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const readSchema = Compile(orderSchema);
const [directSchema, managedSchema, etchingSchema] = (
  orderSchema as unknown as { anyOf: readonly [TSchema, TSchema, TSchema] }
).anyOf;
const etchedRune = { rune: etching.rune, spacers: 1, height: asHeight(840_000), txIndex: 3 };
const etchings = orderStates.flatMap((state) =>
  [sparse('bulk'), full('bulk')].flatMap((order) =>
    Object.entries(progresses).map(([name, progress]) =>
      asJson(
        orderAnswer(
          { ...ofEtching(order), state },
          { ...progress, parents: [], etched: name === 'all' ? etchedRune : null },
          networks.regtest,
          'http://orders.test',
        ),
      ),
    ),
  ),
);

test.each(orderKinds)('the answer to a read of a %s order has its schema in each state', (kind) => {
  const faulty = answers
    .filter((each) => each.kind === kind && !readSchema.Check(each.answer))
    .map(({ name, answer }) => [
      name,
      Compile(kind === 'bulk' ? managedSchema : directSchema).Errors(answer),
    ]);
  expect(faulty).toEqual([]);
});

const created = (order: Order, files: readonly object[], tokenOrder: TokenOrder | null = null): unknown =>
  asJson(
    createdAnswer(
      order as Parameters<typeof createdAnswer>[0],
      { files, tokenOrder, planned: [{ code: 'burn', message: 'The inscriptions are burned.' }] },
      'http://orders.test',
    ),
  );
const createdAnswers = orderKinds.map((kind) => ({
  kind,
  schema: kind === 'direct' ? createdDirect : createdManaged,
  given: [created(sparse(kind), [{ ...shown, metadataSize: null }]), created(full(kind), [shown, {}])],
}));

test('the answers of an etching have their schemas, with the requested amounts', () => {
  for (const answer of etchings) expect([...Compile(etchingSchema).Errors(answer)]).toEqual([]);
  const ordered = [sparse('bulk'), full('bulk')].map((order) => created(ofEtching(order), [shown, {}]));
  for (const answer of ordered) expect([...Compile(createdEtching).Errors(answer)]).toEqual([]);
  expect(etchings[0]).not.toHaveProperty('runeId');
  expect(etchings.at(-1)).toMatchObject({ rune: 'S•ATSCRIBEEXAMPLE', runeId: '840000:3' });
  expect(etchings[0]).toMatchObject({
    orderType: 'rune-etch',
    runeProperties: {
      rune: 'S•ATSCRIBEEXAMPLE',
      supply: 22_000,
      symbol: '⧉',
      divisibility: 2,
      premine: 1_000,
      cap: 2_000,
      amount: '10.5',
      offset: { start: 3, end: 4 },
      height: { start: 1, end: '1152921504606846976' },
      turbo: false,
    },
  });
});

test('the answer to an order of a collection has its schema', () => {
  const answer = created(ofCollection(), [shown, {}]);
  expect([...Compile(createdCollectionOrder).Errors(answer)]).toEqual([]);
  expect(answer).toMatchObject({ price: 5000, collectionServiceFee: 100, fileCount: 2 });
});

test('the answer to an order with a price in a rune has its schema, and only its two charges', () => {
  const answer = created(ofCollection(), [shown, {}], inRunes.tokenOrder);
  expect([...Compile(createdCollectionOrder).Errors(answer)]).toEqual([]);
  expect(answer).not.toHaveProperty('psbt');
  expect(answer).toMatchObject({
    charge: null,
    tokenPayCharge: {
      feeCharge: { amount: 5000, token: 'BTC', address: 'fee', protocol: 'bitcoin', additionalFee: 0 },
      tokenCharge: {
        amount: 0.12,
        amountBase: '12',
        token: 'UNCOMMON•GOODS',
        address: 'token',
        protocol: 'rune',
      },
      hosted_checkout_url: 'http://orders.test/tokenpay/checkout/6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11',
    },
  });
});

test.each(createdAnswers)('the answer to a creation of a $kind order has its schema', ({ schema, given }) => {
  for (const answer of given) expect([...Compile(schema).Errors(answer)]).toEqual([]);
});

test.each([
  [
    'a read of a direct order',
    directSchema,
    answers.filter(({ kind }) => kind === 'direct').map((each) => each.answer),
  ],
  [
    'a read of a managed order',
    managedSchema,
    answers.filter(({ kind }) => kind === 'bulk').map((each) => each.answer),
  ],
  ...createdAnswers.map(
    ({ kind, schema, given }) => [`a creation of a ${kind} order`, schema, given] as const,
  ),
] as const)(
  'each field of the schema of %s is in an answer, and other fields are refused',
  (_name, schema, given) => {
    const seen = new Set(given.flatMap((answer) => pathsOf(answer)));
    expect(fieldsOf(schema).filter((path) => !seen.has(path))).toEqual([]);
    const validator = Compile(schema);
    const [first] = given as readonly object[];
    expect(validator.Check(first)).toBe(true);
    expect(validator.Check({ ...first, unknown: 1 })).toBe(false);
  },
);

/** The paths of a value's fields. Paths of list items have no position: `files.tx.reveal`. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    `${path}${name}`,
    ...pathsOf(part, `${path}${name}.`),
  ]);
}

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** Names of the fields of a schema. */
function fieldsOf(schema: unknown, path = ''): string[] {
  const { properties = {}, items, anyOf = [] } = schema as Shape;
  return [
    ...Object.entries(properties).flatMap(([name, part]) => [
      `${path}${name}`,
      ...fieldsOf(part, `${path}${name}.`),
    ]),
    ...(items === undefined ? [] : fieldsOf(items, path)),
    ...anyOf.flatMap((part) => fieldsOf(part, path)),
  ];
}

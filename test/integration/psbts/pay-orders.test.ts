import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type Coin, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import {
  customerAddress,
  type PaymentType,
  paymentTypes,
  signerBody,
} from '#test/support/psbts/customer-address.ts';
import {
  type Customer,
  type PsbtAnswer,
  type PsbtRefused,
  PsbtWorld,
  type SpecialOutput,
} from '#test/support/psbts/psbt-world.ts';
import { type SigningLibrary, signingLibraries } from '#test/support/psbts/sign-psbt.ts';

const url = '/create-special-sats-psbt';

/** A special output, and the expected outputs of the payment that gets this output inscribed. */
interface Layout {
  readonly name: string;
  readonly value: number;
  readonly place: number;
  readonly purposes: readonly string[];
  readonly allowed?: readonly string[];
}

const layouts: readonly Layout[] = [
  {
    name: 'first, with a rest',
    value: 10_000,
    place: 0,
    purposes: ['postage', 'ordinals', 'charge', 'change'],
  },
  {
    name: 'after fewer sats than dust',
    value: 20_000,
    place: 100,
    purposes: ['change', 'ordinals', 'postage', 'ordinals', 'charge', 'change'],
  },
  {
    name: 'after more sats than dust',
    value: 20_000,
    place: 5_000,
    purposes: ['ordinals', 'postage', 'ordinals', 'charge', 'change'],
  },
  { name: 'alone in the postage', value: 546, place: 0, purposes: ['charge', 'change'] },
  { name: 'with less than the postage', value: 400, place: 0, purposes: ['charge', 'change'] },
  {
    name: 'with a rest of less than dust',
    value: 700,
    place: 0,
    purposes: ['postage', 'ordinals', 'charge', 'change'],
  },
  {
    name: 'last, as the order allows no other',
    value: 10_000,
    place: 9_000,
    purposes: ['ordinals', 'postage', 'ordinals', 'charge', 'change'],
    allowed: ['uncommon'],
  },
  {
    name: 'first, as the order allows no other',
    value: 9_000,
    place: 0,
    purposes: ['postage', 'ordinals', 'charge', 'change'],
    allowed: ['uncommon'],
  },
];

interface Paying {
  readonly name: string;
  readonly type: PaymentType;
  readonly library: SigningLibrary;
  readonly layout: Layout;
  readonly customer: Customer;
  special: SpecialOutput;
  kept: readonly Coin[];
  id: string;
  address: string;
  answer: PsbtAnswer;
}

describe.skipIf(bitcoindForTests() === null)('orders that are paid from wallets', () => {
  let world: PsbtWorld;
  const paying: Paying[] = [];

  beforeAll(async () => {
    world = await PsbtWorld.start();
    for (const [at, type] of paymentTypes.entries())
      for (const [place, library] of signingLibraries.entries()) {
        const index = 2 * at + place;
        const customer = {
          payment: customerAddress(60_000 + index, type),
          ordinals: customerAddress(61_000 + index),
        };
        const layout = layouts[index]!;
        await world.fund(customer.payment, [40_000, 15_000, 3_000]);
        paying.push({
          name: `${type} with ${library.name}: the special sat ${layout.name}`,
          type,
          library,
          layout,
          customer,
          special: await world.special(customer.ordinals, layout.value, layout.place),
          // larger than the sum of all coins that may be spent
          kept: await world.kept(customer.payment, 90_000),
          id: '',
          address: '',
          answer: null as unknown as PsbtAnswer,
        });
      }
    await world.mine();
    for (const each of paying) {
      const made = wantedOrder([each.name]);
      const { order } = await world.world.customerOrders.create({
        ...made,
        request: { ...made.request, allowedSatributes: each.layout.allowed ?? null },
      });
      each.id = order.id;
      each.address = order.address;
      each.answer = await world.built(url, each.customer, {
        fundingAddress: order.address,
        chargeAmount: Number(order.amount),
        specialSatsOutput: each.special.name,
        feeRate: 3,
      });
      const hex = world.signed(each.answer, each.customer, each.library);
      const signed = Transaction.fromRaw(Buffer.from(hex, 'hex'), { allowUnknownOutputs: true });
      const rate = each.answer.fee / signed.vsize;
      expect(rate / 3, each.name).toBeGreaterThanOrEqual(1);
      expect(rate / 3, each.name).toBeLessThan(1.01);
      await world.broadcast(hex);
    }
    await world.world.chain.mineMempool();
    for (const { id } of paying) {
      await world.world.until(id, 'queued');
      await world.world.sent(id);
    }
    await world.world.chain.mineMempool();
    for (const { id } of paying) await world.world.until(id, 'completed');
    await world.world.indexed();
  }, 240_000);
  afterAll(() => world?.close());

  /** The sat of an order's inscription, and the inscription's location in the index. */
  async function inscribedOn(id: string) {
    const found = await world.world.customerOrders.read(id);
    const { rows } = await world.world.database.pool.query<{ sat: number }>(
      `SELECT s.sat FROM chain.inscriptions AS i JOIN chain.sats AS s USING (key) WHERE i.txid = ANY($1)`,
      [found!.transactions.filter(({ kind }) => kind === 'reveal').map(({ txid }) => Buffer.from(txid))],
    );
    return rows.map(({ sat }) => Number(sat));
  }

  test('each is inscribed on its special sat, and no output with contents is spent', async () => {
    expect(paying).toHaveLength(8);
    for (const { name, id, special, kept, layout, answer, customer } of paying) {
      expect(await inscribedOn(id), name).toEqual([special.sat]);
      for (const coin of kept) expect(await world.isUnspent(coin), name).toBe(true);
      expect(
        answer.outputs.map(({ purpose }) => purpose),
        name,
      ).toEqual(layout.purposes);
      expect(answer.unproven, name).toEqual([]);
      expect(answer.warnings, name).toEqual([]);
      for (const { address, value, purpose } of answer.outputs) {
        expect(value, name).toBeGreaterThanOrEqual(294);
        if (purpose === 'ordinals') expect(address).toBe(customer.ordinals.address);
        if (purpose === 'change') expect(address).toBe(customer.payment.address);
      }
    }
    expect((await world.world.audit()).differing).toBe(0);
  });

  const customer: Customer = {
    payment: customerAddress(62_000, 'p2wpkh'),
    ordinals: customerAddress(62_001),
  };
  const body = (order: { address: string; amount: bigint | number }) => ({
    ...signerBody(customer.payment, customer.ordinals),
    fundingAddress: order.address,
    chargeAmount: Number(order.amount),
    feeRate: 2,
  });
  const made = (text: string, more: Partial<OrderTerms> = {}, allowed: readonly string[] | null = null) => {
    const wanted = wantedOrder([text], more);
    const request = { ...wanted.request, allowedSatributes: allowed };
    return world.world.customerOrders.create({ ...wanted, request });
  };
  const refusal = async (given: object, path = url) => {
    const { status, body: answer } = await world.post<PsbtRefused>(path, given);
    expect(answer).toMatchObject({ success: false, status, stack: {} });
    return `${status} ${answer.message.replaceAll(/[0-9a-f]{64}/gu, 'X').replaceAll(/bcrt1[0-9a-z]+/gu, 'A')}`;
  };

  test('an order is paid without a special sat, with change or the last coin', async () => {
    const { order } = await made('plain');
    await world.fund(customer.payment, [30_000]);
    await world.mine();
    const answer = await world.built(url, customer, { ...body(order), chargeAmount: String(order.amount) });
    expect(answer.ordinalInputIndices).toEqual([]);
    expect(answer.outputs.map(({ purpose, value }) => [purpose, purpose === 'charge' ? value : 0])).toEqual([
      ['charge', Number(order.amount)],
      ['change', 0],
    ]);
    expect(answer.chargeAmount).toBe(Number(order.amount));
    // the excess is refunded
    const more = await world.built(url, customer, {
      ...body(order),
      chargeAmount: Number(order.amount) + 5_000,
    });
    expect(more.warnings).toEqual([
      'chargeAmount is 5000 sats more than the order needs. The order has no refundAddress, so these sats wait for the operator.',
    ]);
  });

  test('bad input is refused in the form of the interface', async () => {
    const { order } = await made('refused');
    const wanted = body(order);
    const spent = paying[0]!.special;
    const inscribed = await world.inscribed(customer.ordinals, 'held');
    const [, runic] = await world.kept(customer.ordinals, 5_000);
    const elsewhere = await world.special(customerAddress(62_005), 5_000);
    const common = await world.fund(customer.ordinals, [5_000]);
    await world.fund(customer.payment, [30_000]);
    await world.mine();
    const pending = await world.special(customer.ordinals, 5_000);
    for (const hex of world.unmined()) await world.broadcast(hex);
    const named = ({ txid, vout }: Pick<Coin, 'txid' | 'vout'>) => `${txid}:${vout}`;
    const other = customerAddress(62_009, 'p2wpkh').publicKey;
    const cases: readonly (readonly [object, string])[] = [
      [{ ...wanted, fundingAddress: undefined }, '400 fundingAddress is required.'],
      [
        { ...wanted, fundingAddress: 'bcrt1q' },
        '400 fundingAddress is not a Bitcoin address, but this server serves regtest',
      ],
      [
        { ...wanted, fundingAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
        '400 fundingAddress belongs to another network, but this server serves regtest',
      ],
      [
        { ...wanted, fundingAddress: customer.ordinals.address },
        '404 no order of this service has the address A',
      ],
      [{ ...wanted, chargeAmount: undefined }, '400 chargeAmount is required.'],
      [{ ...wanted, chargeAmount: 'many' }, '400 chargeAmount must be a whole number of at least 0'],
      [
        { ...wanted, chargeAmount: 200 },
        `400 chargeAmount is 200 sats, but the order needs ${order.amount}.`,
      ],
      [
        { ...wanted, chargeAmount: Number(order.amount) - 1 },
        `400 chargeAmount is ${Number(order.amount) - 1} sats, but the order needs ${order.amount}.`,
      ],
      [{ ...wanted, feeRate: 0.05 }, '400 feeRate must be from 0.1 to 10000 sats per virtual byte'],
      [{ ...wanted, feeRate: 1e9 }, '400 feeRate must be from 0.1 to 10000 sats per virtual byte'],
      [{ ...wanted, paymentPublicKey: other }, '400 paymentPublicKey is not the key of paymentAddress'],
      [
        { ...wanted, paymentPublicKey: 'ff'.repeat(32) },
        '400 paymentPublicKey is not a point of the curve secp256k1',
      ],
      [
        { ...wanted, paymentAddress: undefined, ordinalPublicKey: undefined },
        '400 paymentAddress is required.\nordinalPublicKey is required.',
      ],
      [
        { ...wanted, specialSatsOutput: 'somewhere' },
        '400 specialSatsOutput is not an output; an output has the form <txid>:<vout>',
      ],
      [
        { ...wanted, specialSatsOutput: spent.name },
        '400 specialSatsOutput: the output X:1 is spent, or does not exist.',
      ],
      [
        { ...wanted, specialSatsOutput: pending.name },
        '400 specialSatsOutput: the output X:1 is not confirmed; wait until its transaction is in a block.',
      ],
      [
        { ...wanted, specialSatsOutput: elsewhere.name },
        '400 specialSatsOutput: the output X:1 is not at the ordinals address A.',
      ],
      [
        { ...wanted, specialSatsOutput: named(inscribed.coin) },
        '400 specialSatsOutput: the output X:0 holds the inscription Xi0.',
      ],
      [{ ...wanted, specialSatsOutput: named(runic!) }, '400 specialSatsOutput: the output X:0 holds runes.'],
      [
        { ...wanted, ...signerBody(customerAddress(62_010, 'p2pkh'), customer.ordinals) },
        expect.stringMatching(
          /^400 Not enough cardinal spendable funds\.\nAddress has: 0 sats\nNeeded: \d+ sats$/u,
        ) as string,
      ],
      [{ ...wanted, paymentAddress: order.address }, '400 paymentPublicKey is not the key of paymentAddress'],
      [
        { ...wanted, fundingAddress: paying[0]!.address },
        '400 fundingAddress: the order needs no more payment, because it is completed.',
      ],
    ];
    for (const [given, words] of cases) expect(await refusal(given)).toEqual(words);
    expect(await refusal([1])).toBe(
      '400 the body must be an object\nfundingAddress is required.\nchargeAmount is required.\npaymentPublicKey is required.\npaymentAddress is required.\nordinalPublicKey is required.',
    );
    // a sat that the order does not allow
    const { order: picky } = await made('picky', {}, ['uncommon']);
    expect(await refusal({ ...body(picky), specialSatsOutput: named(common[0]!) })).toBe(
      '400 specialSatsOutput: the output X:1 has no sat that is uncommon.',
    );
    expect(await refusal(body(picky))).toMatch(
      /^400 Nothing would be inscribed, and the payment would be refunded: .* specialSatsOutput\.$/u,
    );
    // a cancelled order
    expect(await world.world.customerOrders.cancel(picky.id)).toBe(true);
    expect(await refusal({ ...body(picky), specialSatsOutput: named(common[0]!) })).toBe(
      '400 fundingAddress: the order is cancelled, so a payment would only be refunded.',
    );
  });

  test('an order whose inputs cost more than its postage says so before anyone signs', async () => {
    const special = await world.special(customer.ordinals, 5_000);
    await world.mine();
    const { order } = await made('dear', { feeRate: 20_000n });
    const wanted = { ...body(order), specialSatsOutput: special.name };
    expect(await refusal(wanted)).toMatch(
      /^400 specialSatsOutput: at the fee rate of the order, each output that pays for it costs 1160 sats\. This is more than its postage of 546/u,
    );
    // an order with a rule for sats spends the output for its sat
    const { order: picky } = await made('dear and picky', { feeRate: 60_000n }, ['uncommon']);
    await world.fund(customer.payment, [60_000]);
    await world.mine();
    const answer = await world.built(url, customer, { ...body(picky), specialSatsOutput: special.name });
    expect(answer.chargeAmount).toBeGreaterThan(Number(picky.amount));
    await world.broadcast(world.signed(answer, customer, signingLibraries[0]!));
    await world.world.deliver(picky.id);
    expect(await inscribedOn(picky.id)).toEqual([special.sat]);
  });

  test('several inscriptions of one reveal need an allowed sat each', async () => {
    const special = await world.special(customer.ordinals, 30_000);
    await world.fund(customer.payment, [30_000]);
    await world.mine();
    const wanted = wantedOrder(['one', 'two', 'three']);
    const { order } = await world.world.customerOrders.create({
      ...wanted,
      request: { ...wanted.request, allowedSatributes: ['uncommon'] },
    });
    expect(await refusal({ ...body(order), specialSatsOutput: special.name })).toMatch(
      /^400 Nothing would be inscribed, and the payment would be refunded: The payment has no sats that are uncommon/u,
    );
    const { order: any } = await world.world.customerOrders.create(wantedOrder(['one', 'two', 'three']));
    const answer = await world.built(url, customer, { ...body(any), specialSatsOutput: special.name });
    expect(answer.outputs[0]).toMatchObject({ purpose: 'postage', value: 3 * 546 });
    await world.broadcast(world.signed(answer, customer, signingLibraries[1]!));
    await world.world.deliver(any.id);
    expect((await inscribedOn(any.id)).toSorted((a, b) => a - b)).toEqual([
      special.sat,
      special.sat + 546,
      special.sat + 1092,
    ]);
  });

  test('the first of several reveals is inscribed on the special sat', async () => {
    const special = await world.special(customer.ordinals, 10_000);
    await world.fund(customer.payment, [30_000]);
    await world.mine();
    const { order } = await world.world.customerOrders.create(
      wantedOrder(['first', 'second'], { uncurse: true }),
    );
    const answer = await world.built(url, customer, { ...body(order), specialSatsOutput: special.name });
    await world.broadcast(world.signed(answer, customer, signingLibraries[0]!));
    await world.world.deliver(order.id);
    expect(await inscribedOn(order.id)).toContain(special.sat);
  });

  test('earlier payments count, and may take the inscription', async () => {
    const payer = customerAddress(62_020);
    const special = await world.special(customer.ordinals, 3_000);
    const [common, other] = await world.fund(payer, [10_000, 10_000]);
    const early = await world.special(payer, 10_000);
    await world.fund(customer.payment, [30_000]);
    await world.mine();
    const { order } = await made('paid in parts', {}, ['uncommon']);
    const { order: any } = await made('paid by any sats');
    const { order: taken } = await made('paid with such a sat', {}, ['uncommon']);
    const parts = [
      [common!, order],
      [other!, any],
      [early.coin, taken],
    ] as const;
    await world.world.chain.mine(
      parts.map(([coin, { script }]) =>
        transaction([coin], [{ value: 1_500, outputScript: script }, { value: 7_000 }]),
      ),
    );
    await world.world.indexed();
    for (const { id } of [order, any, taken]) await world.paid(id, 1_500);
    const rest = ({ address, amount }: typeof order) => ({
      ...body({ address, amount: Number(amount) - 1_500 }),
      specialSatsOutput: special.name,
    });
    // an order without a rule for sats inscribes the first payment; with a rule it may be any payment with such a sat
    const elsewhere =
      /^400 specialSatsOutput: with the payments that the order already has, its inscription would/u;
    expect(await refusal(rest(any))).toMatch(elsewhere);
    expect(await refusal(rest(taken))).toMatch(
      /the txid of the payment decides which of them is inscribed\.$/u,
    );
    const answer = await world.built(url, customer, rest(order));
    await world.broadcast(world.signed(answer, customer, signingLibraries[1]!));
    await world.world.deliver(order.id);
    expect(await inscribedOn(order.id)).toEqual([special.sat]);
  });
});

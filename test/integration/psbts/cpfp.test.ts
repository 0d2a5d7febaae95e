import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { satsOfBitcoins } from '#kernel/bitcoin/amount.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import {
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { type CustomerAddress, customerAddress, paymentTypes } from '#test/support/psbts/customer-address.ts';
import { psbtApp } from '#test/support/psbts/psbt-app.ts';
import { type SigningLibrary, signingLibraries } from '#test/support/psbts/sign-psbt.ts';

interface Child {
  readonly psbt: string;
  readonly hex: string;
  readonly buyerInputIndices: readonly number[];
  readonly fee: number;
  readonly outputs: readonly { readonly value: number; readonly purpose: string }[];
  readonly unproven: readonly string[];
  readonly message?: string;
}

interface Entry {
  readonly vsize: number;
  readonly ancestorsize: number;
  readonly fees: { readonly base: number; readonly ancestor: number };
}

const outpoint = ({ txid, vout }: Coin): string => `${txid}:${vout}`;
const stranger = 400;
const to = ({ owner, type }: CustomerAddress, value: number): NewOutput => ({ value, to: owner, type });

describe.skipIf(bitcoindForTests() === null)('children of stuck transactions', () => {
  let world: OrderWorld;
  let app: App;
  /** Confirmed coins without inscriptions, runes or special sats. Each has a different owner. */
  let coins: Coin[];
  let owners = 500;

  beforeAll(async () => {
    world = await OrderWorld.start({}, 230, { indexAddresses: true, indexRunes: true, indexSats: true });
    const { chain } = world;
    const coin = await chain.coin();
    const made = transaction(
      [coin],
      [
        { value: 10_000 },
        ...Array.from({ length: 60 }, () => ({ value: 1_000_000 })),
        { value: 4_900_000_000 },
      ],
    );
    coins = made.coins.slice(1, 61).map((each) => each!);
    await chain.mine([made]);
    await world.indexed();
    const { database, bitcoind, customerOrders: orders } = world;
    app = psbtApp({ database, bitcoind, tracer: null }, { orders });
    await app.ready();
  });

  afterAll(async () => {
    await app?.close();
    await world?.close();
  });

  const coin = (): Coin => coins.shift()!;
  const newCustomer = (type: CustomerAddress['type'] = 'p2wpkh'): CustomerAddress =>
    customerAddress(owners++, type);

  const ask = async (payload: object): Promise<{ status: number; body: Child }> => {
    const answer = await app.inject({ method: 'POST', url: '/cpfp', payload });
    return { status: answer.statusCode, body: answer.json<Child>() };
  };
  const wanted = ({ address, publicKey }: CustomerAddress, coinOrId: Coin | string, feeRate: number) => ({
    ...(typeof coinOrId === 'string' ? { utxo: coinOrId } : { utxo: outpoint(coinOrId) }),
    paymentAddress: address,
    paymentPublicKey: publicKey,
    feeRate,
  });
  const refusal = async (payload: object): Promise<string | undefined> => {
    const { status, body } = await ask(payload);
    expect(status).toBe(400);
    expect(body).toEqual({ success: false, status: 400, message: expect.any(String) as string, stack: {} });
    return body.message;
  };

  /** Makes an unconfirmed payment with change, at one sat per virtual byte. */
  async function stuck(customer: CustomerAddress, change: number, ...others: readonly NewOutput[]) {
    const spent = coin();
    const paid = others.reduce((sum, { value }) => sum + value, change);
    const made = transaction([spent], [...others, to(customer, change), { value: spent.value - paid - 400 }]);
    await world.chain.broadcast(made);
    return made;
  }

  async function send(customer: CustomerAddress, child: Child, library: SigningLibrary): Promise<string> {
    const signed = library.sign(child.psbt, [{ by: customer, indices: child.buyerInputIndices }]);
    return world.bitcoind.rpc.call<string>('sendrawtransaction', [library.finalize(signed)]);
  }

  const entryOf = (txid: string): Promise<Entry> => world.bitcoind.rpc.call<Entry>('getmempoolentry', [txid]);

  async function built(payload: object): Promise<Child> {
    const { status, body } = await ask(payload);
    expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
    return body;
  }

  /** Checks that a child and all of its unconfirmed ancestors together pay this rate, within a hundredth. */
  async function expectRate(txid: string, feeRate: number): Promise<void> {
    const { fees, ancestorsize } = await entryOf(txid);
    const rate = satsOfBitcoins(fees.ancestor) / ancestorsize;
    expect(rate).toBeGreaterThanOrEqual(feeRate);
    expect(rate).toBeLessThan(feeRate * 1.01);
  }

  async function isMined(txid: string): Promise<boolean> {
    const block = await world.bitcoind.rpc.call<{ tx: string[] }>('getblock', [
      await world.bitcoind.rpc.call<string>('getbestblockhash'),
    ]);
    return block.tx.includes(txid);
  }

  test.each(
    paymentTypes.flatMap((type) => signingLibraries.map((library) => [type, library.name, library] as const)),
  )('of change to %s lift the package to the rate, signed by %s', async (type, _, library) => {
    const customer = newCustomer(type);
    const parent = await stuck(customer, 100_000);
    const child = await built(wanted(customer, parent.coin(0), 20));
    expect(child.buyerInputIndices).toEqual([0]);
    expect(child.outputs).toEqual([expect.objectContaining({ purpose: 'change' }) as object]);
    expect(child.unproven).toEqual([]);
    expect(Buffer.from(child.psbt, 'base64').toString('hex')).toBe(child.hex);
    const txid = await send(customer, child, library);
    await expectRate(txid, 20);
    await world.chain.mineMempool();
    expect(await isMined(txid)).toBe(true);
  });

  test('pay for a chain, but not for parts that are already paid', async () => {
    const customer = newCustomer();
    const first = transaction([coin()], [{ value: 900_000 }, { value: 50_000, to: stranger }]);
    await world.chain.broadcast(first);
    const second = transaction([first.coin(0)], [{ value: 899_800 }]);
    await world.chain.broadcast(second);
    const third = transaction([second.coin(0)], [to(customer, 899_500)]);
    await world.chain.broadcast(third);
    const child = await built(wanted(customer, third.coin(0), 50));
    const txid = await send(customer, child, signingLibraries[0]!);
    const { vsize } = await entryOf(txid);
    const poor = await Promise.all([second, third].map(({ txid: id }) => entryOf(id)));
    const size = poor.reduce((sum, each) => sum + each.vsize, vsize);
    // the first transaction already paid 50,000 sats for itself
    expect(child.fee).toBeGreaterThanOrEqual(50 * size - 500);
    expect(child.fee).toBeLessThan((50 * size - 500) * 1.01);
    await world.chain.mineMempool();
  });

  test('add confirmed coins if the output is too small, and never other unconfirmed ones', async () => {
    const customer = newCustomer();
    const funding = transaction([coin()], [to(customer, 30_000), to(customer, 40_000), { value: 900_000 }]);
    await world.chain.mine([funding]);
    await world.indexed();
    const other = await stuck(customer, 1_000);
    const parent = await stuck(customer, 600);
    const child = await built(wanted(customer, parent.coin(0), 100));
    expect(child.buyerInputIndices).toEqual([0, 1]);
    const txid = await send(customer, child, signingLibraries[1]!);
    const { vin } = await world.bitcoind.rpc.call<{ vin: { txid: string; vout: number }[] }>(
      'getrawtransaction',
      [txid, true],
    );
    expect(vin.map((input) => `${input.txid}:${input.vout}`)).toEqual([
      outpoint(parent.coin(0)),
      outpoint(funding.coin(1)),
    ]);
    await expectRate(txid, 100);
    expect(await refusal(wanted(customer, other.coin(0), 200))).toMatch(
      /^Not enough cardinal spendable funds\.\nAddress has: 30000 sats\nNeeded: \d+ sats/u,
    );
    await world.chain.mineMempool();
    await world.indexed();
  });

  test('of an order spend the change of its payment', async () => {
    const { order } = await world.customerOrders.create(wantedOrder(['stuck']));
    const customer = newCustomer('p2tr');
    const payment = await stuck(customer, 70_000, {
      value: Number(order.amount),
      outputScript: order.script,
    });
    await world.until(order.id, 'waiting-confirmation');
    const { utxo: _, ...body } = wanted(customer, '', 25);
    const child = await built({ ...body, orderId: order.id });
    const txid = await send(customer, child, signingLibraries[0]!);
    await expectRate(txid, 25);
    const { vin } = await world.bitcoind.rpc.call<{ vin: { txid: string }[] }>('getrawtransaction', [
      txid,
      true,
    ]);
    expect(vin[0]?.txid).toBe(payment.txid);
    expect(await refusal({ ...body, orderId: order.id })).toContain(
      'no unconfirmed transaction of this order has',
    );
    const unknown = await ask({ ...body, orderId: '00000000-0000-4000-8000-000000000000' });
    expect(unknown).toMatchObject({ status: 404, body: { success: false, message: /^no such order/u } });
    await world.chain.mineMempool();
  });

  test('of an order do not spend outputs that it inscribes for the same address', async () => {
    const receiver = customerAddress(700);
    const { order } = await world.customerOrders.create(wantedOrder(['mine']));
    await stuck(receiver, 50_000, { value: Number(order.amount), outputScript: order.script });
    await world.until(order.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    const { utxo: _, ...body } = wanted(receiver, '', 100);
    await world.indexed();
    expect(await refusal({ ...body, orderId: order.id })).toContain('holds an inscription.');
    await world.chain.mineMempool();
  });

  test('are refused for outputs that hold an inscription, runes or special sats, through any ancestors', async () => {
    const { chain } = world;
    const customer = newCustomer();
    // an inscription in a confirmed output, moved twice
    const made = await chain.inscribe(
      { contentType: 'text/plain', body: 'here' },
      { from: coin(), postage: 20_000 },
    );
    const etched = transaction(
      [coin()],
      [{ value: 50_000 }, { value: 0, outputScript: premined(7) }, { value: 900_000 }],
    );
    await chain.mine([...made.transactions, etched]);
    await world.indexed();
    const broadcast = async (each: RegtestTransaction): Promise<RegtestTransaction> => {
      await chain.broadcast(each);
      return each;
    };
    const before = await broadcast(transaction([coin()], [{ value: 990_000 }]));
    const joined = await broadcast(
      transaction([before.coin(0), made.reveal.coin(0)], [{ value: 985_000 }, { value: 20_000 }]),
    );
    const split = await broadcast(transaction([joined.coin(1)], [to(customer, 5_500), to(customer, 13_000)]));
    expect(await refusal(wanted(customer, split.coin(0), 30))).toBe(
      `Output ${outpoint(split.coin(0))} holds an inscription.`,
    );
    expect((await built(wanted(customer, split.coin(1), 30))).buyerInputIndices).toEqual([0]);
    // a reveal that is not mined yet
    const reveal = await chain.inscribe([{ contentType: 'text/plain', body: 'new', pointer: 10_000 }], {
      from: coin(),
      payments: [to(customer, 10_000), to(customer, 10_000)],
      fee: 1_000,
    });
    for (const each of reveal.transactions) await broadcast(each);
    expect(await refusal(wanted(customer, reveal.reveal.coin(1), 20))).toContain('holds an inscription.');
    expect((await built(wanted(customer, reveal.reveal.coin(0), 20))).buyerInputIndices).toEqual([0]);
    // runes follow their runestone
    const pointed = encipher({ kind: 'runestone', edicts: [], etching: null, mint: null, pointer: 1 });
    const led = await broadcast(
      transaction(
        [etched.coin(0)],
        [to(customer, 20_000), to(customer, 29_000), { value: 0, outputScript: pointed }],
      ),
    );
    expect(await refusal(wanted(customer, led.coin(1), 30))).toContain('holds runes.');
    expect((await built(wanted(customer, led.coin(0), 30))).buyerInputIndices).toEqual([0]);
    const etching = await broadcast(
      transaction(
        [coin()],
        [to(customer, 20_000), { value: 0, outputScript: premined(7) }, { value: 979_500 }],
      ),
    );
    expect(await refusal(wanted(customer, etching.coin(0), 30))).toContain('may hold runes');
    // the first sat of a block is uncommon, so its coin is not spent
    const mined = await chain.coin();
    const rare = await broadcast(
      transaction([mined], [to(customer, 20_000), { value: mined.value - 20_400 }]),
    );
    expect(await refusal(wanted(customer, rare.coin(0), 30))).toContain('holds special sats.');
    await chain.mineMempool();
    await world.indexed();
  });

  test('are refused for outputs that are confirmed, spent, foreign or unknown, each in its own words', async () => {
    const customer = newCustomer();
    const parent = await stuck(customer, 50_000);
    const name = outpoint(parent.coin(0));
    expect(await refusal(wanted(newCustomer(), parent.coin(0), 20))).toMatch(/does not belong to bcrt1/u);
    expect(await refusal(wanted(customer, `${parent.txid}:7`, 20))).toBe(
      `Output ${parent.txid}:7 does not exist, because its transaction has only 2 outputs.`,
    );
    expect(await refusal(wanted(customer, `${'ab'.repeat(32)}:0`, 20))).toContain('is unknown');
    expect(await refusal(wanted(customer, parent.coin(0), 1))).toContain('already pay 1 sat/vB');
    const spending = transaction([parent.coin(0)], [{ value: 49_000 }]);
    await world.chain.broadcast(spending);
    expect(await refusal(wanted(customer, parent.coin(0), 20))).toBe(
      `Output ${name} is spent by ${spending.txid} in the mempool.`,
    );
    const later = await stuck(customer, 50_000);
    await world.chain.mineMempool();
    expect(await refusal(wanted(customer, later.coin(0), 20))).toBe(
      `Output ${outpoint(later.coin(0))} already confirmed`,
    );
    expect(await refusal({})).toBe(
      'utxo or orderId is required.\npaymentPublicKey is required.\npaymentAddress is required.',
    );
    expect(await refusal({ ...wanted(customer, name, 20), orderId: 'x' })).toBe(
      'orderId and utxo exclude each other; send only one of them',
    );
    for (const feeRate of [0.05, 1e9])
      expect(await refusal(wanted(customer, name, feeRate))).toContain('must be from 0.1 to 10000');
  });

  test('are refused if they would pay more than nodes send', async () => {
    const customer = newCustomer();
    await stuck(customer, 990_000);
    await world.chain.mineMempool();
    await world.indexed();
    const parent = await stuck(customer, 990_000);
    expect(await refusal(wanted(customer, parent.coin(0), 5_700))).toMatch(
      /^feeRate is too high: for this rate, the child of 17\d virtual bytes would pay 1[89]\d{5} sats, but nodes accept at most 17\d0000 sats\. Use a lower feeRate\.$/u,
    );
    expect((await ask(wanted(customer, parent.coin(0), 3_000))).status).toBe(200);
  });

  test('of version 3 have its version, and each parent has only one', async () => {
    const customer = newCustomer();
    const spent = coin();
    const parent = transaction(
      [spent],
      [to(customer, 100_000), to(customer, 100_000), { value: spent.value - 200_500 }],
      undefined,
      3,
    );
    await world.chain.broadcast(parent);
    const child = await built(wanted(customer, parent.coin(0), 40));
    expect(Buffer.from(child.hex, 'hex').includes(Buffer.from('03000000', 'hex'))).toBe(true);
    const txid = await send(customer, child, signingLibraries[0]!);
    await expectRate(txid, 40);
    expect(await refusal(wanted(customer, parent.coin(1), 60))).toContain('version 3');
    await world.chain.mineMempool();
  });

  test('are refused if the maximum number of transactions depend on each other', async () => {
    const customer = newCustomer();
    let last = transaction([coin()], [{ value: 990_000 }]);
    await world.chain.broadcast(last);
    for (let count = 1; count < 64; count++) {
      last = transaction(
        [last.coin(0)],
        [to(count === 63 ? customer : customerAddress(stranger), 990_000 - 150 * count)],
      );
      await world.chain.broadcast(last);
    }
    expect(await refusal(wanted(customer, last.coin(0), 20))).toBe(
      `Output ${outpoint(last.coin(0))}: 64 unconfirmed transactions already depend on each other, but the node accepts at most 64. Wait until some of them are in a block.`,
    );
    await world.chain.mineMempool();
  });
});

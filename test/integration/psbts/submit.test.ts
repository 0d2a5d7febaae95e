import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addressOf,
  type Coin,
  type NewOutput,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderService, type OrderShown } from '#test/support/orders/order-service.ts';

const path = '/tokenpay/utils/submittx';
const owner = 840;
const runMs = 240_000;
const file = { name: 'a.txt', size: 2, dataURL: 'data:text/plain;base64,aGk=' };

interface Submitted {
  readonly status: number;
  readonly answer: {
    readonly txid?: string;
    readonly warnings?: readonly string[];
    readonly error?: readonly { readonly msg: string }[];
  };
}
interface Parented extends OrderShown {
  readonly parents?: readonly { readonly depositAddress: string; readonly txid?: string }[];
}

describe.skipIf(bitcoindForTests() === null)(`POST ${path}`, () => {
  let service: OrderService;
  beforeAll(async () => {
    service = await OrderService.start();
  }, runMs);
  afterAll(() => service?.close());

  const submit = async (hex: unknown): Promise<Submitted> => {
    const answer = await service.post(path, { hex, network: 'ignored' });
    return { status: answer.status, answer: (await answer.json()) as Submitted['answer'] };
  };
  const refused = async (hex: unknown): Promise<string | undefined> => {
    const { status, answer } = await submit(hex);
    expect([status, Object.keys(answer)]).toEqual([400, ['error']]);
    return answer.error?.[0]?.msg;
  };

  async function order(more: object = {}): Promise<Parented> {
    const made = await service.post('/inscribe', {
      files: [file],
      receiveAddress: addressOf(owner),
      refundAddress: addressOf(owner + 1),
      fee: 2,
      ...more,
    });
    const { id } = (await made.json()) as { id: string };
    expect([made.status, id]).toEqual([200, expect.any(String)]);
    return service.order(id);
  }

  const scriptAt = async (address: string): Promise<Uint8Array> => {
    const { scriptPubKey } = await service.chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [
      address,
    ]);
    return Buffer.from(scriptPubKey, 'hex');
  };
  /** A signed payment that is not sent yet. */
  async function payment(
    address: string,
    value: number,
    { fee = 1000, more = [], from }: { fee?: number; more?: readonly NewOutput[]; from?: Coin } = {},
  ): Promise<RegtestTransaction> {
    const coin = from ?? (await service.chain.coin());
    const others = more.reduce((sum, output) => sum + output.value, 0);
    return transaction(
      [coin],
      [
        { value, outputScript: await scriptAt(address) },
        ...more,
        { value: coin.value - value - others - fee, to: owner + 2 },
      ],
    );
  }
  const until = (id: string, state: string): Promise<unknown> =>
    service.eventually(async () => expect((await service.order(id)).state).toBe(state));

  test(
    'sends a payment of an open order, which sees it; sending it again has the same answer, even after it is mined',
    async () => {
      const { id, charge } = await order();
      const paid = await payment(charge.address, charge.amount);
      expect(await submit(paid.hex)).toEqual({ status: 200, answer: { txid: paid.txid } });
      expect(await submit(` ${paid.hex.toUpperCase()}\n`)).toEqual({
        status: 200,
        answer: { txid: paid.txid },
      });
      await until(id, 'waiting-confirmation');
      expect(await submit(paid.hex)).toEqual({ status: 200, answer: { txid: paid.txid } });
      await service.chain.mineMempool();
      await service.eventually(async () => {
        await service.chain.mineMempool();
        expect((await service.order(id)).state).toBe('completed');
      });
      expect(await submit(paid.hex)).toEqual({ status: 200, answer: { txid: paid.txid } });
      // no part of it is in the log
      expect(service.stderr()).not.toContain(paid.hex.slice(0, 100));
    },
    runMs,
  );

  test('takes a payment of too little, or without parents, and says what is missing', async () => {
    const { id, charge } = await order();
    const half = await payment(charge.address, 1000);
    const { answer } = await submit(half.hex);
    expect(answer).toEqual({
      txid: half.txid,
      warnings: [
        expect.stringMatching(/^After this payment, the order at bcrt1p\w+ waits for \d+ more sats\.$/u),
      ],
    });
    const missing = Number(/(\d+) more sats/u.exec(answer.warnings?.[0] ?? '')?.[1]);
    expect(missing).toBeGreaterThanOrEqual(charge.amount - 1000);
    await service.eventually(async () => expect(await service.order(id)).toMatchObject({ missing }));
    const rest = await payment(charge.address, missing);
    expect(await submit(rest.hex)).toEqual({ status: 200, answer: { txid: rest.txid } });
  });

  test(
    'sends a parent to its deposit, and a payment beside it',
    async () => {
      const inscribed = await service.chain.inscribe(
        { contentType: 'text/plain', body: Buffer.from('parent') },
        { to: owner },
      );
      await service.chain.mine(inscribed.transactions);
      const parent = { inscriptionId: inscribed.reveal.id(), returnAddress: addressOf(owner), value: 10_000 };
      const made = await service.eventually(() => order({ parents: [parent] }));
      const {
        id,
        charge,
        parents = [],
      } = await service.eventually(async () => {
        const shown = (await service.order(made.id)) as Parented;
        if (shown.parents?.[0]?.depositAddress === undefined) throw new Error('no deposit address yet');
        return shown;
      });
      const depositAddress = parents[0]?.depositAddress ?? '';
      const alone = await payment(charge.address, charge.amount);
      expect(await submit(alone.hex)).toEqual({
        status: 200,
        answer: {
          txid: alone.txid,
          warnings: [
            `The order at ${charge.address} also waits for 1 of its parents. The order shows their deposit addresses.`,
          ],
        },
      });
      const lent = inscribed.reveal.coin(0);
      const fees = await service.chain.coin();
      const sent = transaction(
        [lent, fees],
        [
          { value: lent.value, outputScript: await scriptAt(depositAddress) },
          { value: fees.value - 1000, to: owner },
        ],
      );
      // the order's charge is paid, or the service has not seen the payment yet
      expect(await submit(sent.hex)).toMatchObject({ status: 200, answer: { txid: sent.txid } });
      await until(id, 'waiting-confirmation');
    },
    runMs,
  );

  test(
    'replaces a payment by one that pays a higher fee, and says why the node takes no other',
    async () => {
      const { id, charge } = await order();
      const coin = await service.chain.coin();
      const first = await payment(charge.address, charge.amount, { from: coin });
      await submit(first.hex);
      await until(id, 'waiting-confirmation');
      const dearer = await payment(charge.address, charge.amount, { from: coin, fee: 5000 });
      expect(await submit(dearer.hex)).toEqual({
        status: 200,
        answer: {
          txid: dearer.txid,
          warnings: [
            'The transaction pays an order that is already paid. The part that does not replace an earlier payment is refunded.',
          ],
        },
      });
      expect(await refused(first.hex)).toMatch(
        /^The node does not accept the transaction, because it would replace .* higher fee \(/u,
      );
      const cheap = await payment(charge.address, charge.amount, { fee: 5 });
      expect(await refused(cheap.hex)).toMatch(
        /its fee is below what the node relays.*min relay fee not met/u,
      );
      const absurd = await payment(charge.address, charge.amount, { fee: 50_000_000 });
      expect(await refused(absurd.hex)).toMatch(/above 0\.1 BTC for 1,000 virtual bytes.*max-fee-exceeded/u);
      const unknown = { ...coin, txid: 'ab'.repeat(32) };
      expect(await refused((await payment(charge.address, charge.amount, { from: unknown })).hex)).toMatch(
        /spends an output that does not exist, or that another transaction has spent \(/u,
      );
      const wrong = await payment(charge.address, charge.amount, {
        from: { ...(await service.chain.coin()), owner: 5 },
      });
      expect(await refused(wrong.hex)).toMatch(/a signature is wrong/u);
    },
    runMs,
  );

  test('refuses payments without an open order, and transactions that nodes do not relay', async () => {
    const { id, charge } = await order();
    const mine = await payment(addressOf(owner + 5), 10_000);
    expect(await refused(mine.hex)).toBe(
      'hex pays no open order of this service, because none of its outputs goes to the address of a charge or a deposit. Send it with any other node.',
    );
    const burning = await payment(charge.address, charge.amount, {
      more: [{ value: 1000, outputScript: Uint8Array.of(0x6a, 1, 1) }],
    });
    expect(await refused(burning.hex)).toBe(
      'Output 1 burns 1000 sats, but no payment of an order burns sats. Send the transaction with sendrawtransaction and a maxburnamount.',
    );
    await service.post('/order/cancel', { id });
    const late = await payment(charge.address, charge.amount);
    expect(await refused(late.hex)).toBe(
      'The transaction pays an order that accepts no more money, because its state is cancelled. A payment now would be refunded.',
    );
    for (const hex of [
      undefined,
      '',
      'zz',
      'abc',
      'cHNidP8=',
      '70736274ff0100',
      '00',
      `${late.hex}00`,
      5,
      null,
    ])
      expect([hex, await refused(hex)]).toEqual([hex, expect.stringContaining('hex')]);
  });
});

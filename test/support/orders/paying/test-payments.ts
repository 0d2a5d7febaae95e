import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { type Order, readOrder } from '#orders/order/order.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { ChainMoney, type MoneyFate } from '#test/support/orders/money-on-chain.ts';
import { verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import { Payer } from '#test/support/orders/payer.ts';
import { chainCases } from './chain-cases.ts';
import { expectSpent, findOpen, foretell } from './foretell.ts';
import type { PaidKind, PaidRoom } from './paid-kinds.ts';
import { type PaymentCase, paymentCases } from './payment-cases.ts';

const firstOwner = 30_000;
/** Maximum sats that may stay owed. They are below the fee of a refund at any rate. */
const worthlessMax = 440n;
const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

/**
 * Tests each way to pay an order of a kind. The order is delivered once or refunded once, the service has the quoted
 * sats, and the audit finds nothing.
 *
 * @param more adds tests that use the same room
 */
export function testPayments(kind: PaidKind, more: (room: () => PaidRoom) => void = () => undefined): void {
  const cases = [...paymentCases, ...chainCases].filter(({ of }) => of?.includes(kind.name) ?? true);
  describe.skipIf(bitcoindForTests() === null)(`${kind.name} that are paid`, () => {
    let room: PaidRoom;
    beforeAll(async () => {
      room = await kind.open();
    });
    afterAll(() => room?.close());

    test.each(cases.map((each, place) => ({ ...each, place })))('$name: $ends', async (each) => {
      await expectPaid(room, kind, each);
    });
    test('in two parts, as predicted', async () => {
      await expectForetold(room, kind);
    });
    more(() => room);
  });
}

/** Pays a part, and then the rest. The delivery must spend both payments, as predicted. */
async function expectForetold(room: PaidRoom, { files }: PaidKind): Promise<void> {
  const { world } = room;
  const contents = Array.from({ length: files }, (_, file) => `foretold ${file}`);
  const order = await room.order({ contents, receiver: firstOwner - 1, refund: firstOwner - 2, terms: {} });
  const payer = new Payer(world, order);
  const first = await payer.pay(900);
  await payer.mine();
  await world.eventually(async () => (await payer.missing()) > 0);
  const open = await findOpen(world, order.id);
  expect(open.coins).toMatchObject([{ outpoint: `${first.txid}:0`, value: 900n, depth: 1, isCounted: true }]);
  const outcome = foretell(open, [Number(open.missing)]);
  const { txid } = await payer.pay(Number(open.missing));
  await world.deliver(order.id);
  await expectSpent(world, order.id, outcome, txid);
}

async function expectPaid(
  room: PaidRoom,
  { files }: PaidKind,
  { place, name, run, ends, terms = {} }: PaymentCase & { readonly place: number },
): Promise<void> {
  const { world } = room;
  const { pool } = world.database;
  const from = room.stockedFrom ?? (await world.chain.height()) - 1;
  const [receiver, refund] = [firstOwner + 2 * place, firstOwner + 2 * place + 1];
  const contents = Array.from({ length: files }, (_, file) => `${name} ${file}`);
  const order = await room.order({ contents, receiver, refund, terms });
  const payer = new Payer(world, order);
  await run(payer);
  // other cases change the node's estimate, which decides whether dust is worth a refund
  const isDustLeft = ends === 'delivered, and the dust refunded once fees allow it';
  await settle(payer, isDustLeft ? 1_000_000n : worthlessMax);
  const chain = await ChainMoney.read(world.bitcoind.rpc, Math.max(1, from));
  const { inventory } = room;
  const { fate, faults, lost, state } = await verdictOfOrder(pool, chain, {
    id: order.id,
    contents,
    receivers: [hexOf(receiver)],
    refund: hexOf(refund),
    ...(inventory === undefined ? {} : { inventory }),
  });
  expect(faults).toEqual([]);
  expect(lost).toBe(0);
  const isRefunded =
    ends === 'refunded' || ends === 'delivered, the rest refunded' || (isDustLeft && fate.refunded > 0);
  expect({ delivered: fate.delivered, isRefunded: fate.refunded > 0, state }).toEqual({
    delivered: ends.startsWith('delivered') ? contents.map(() => 546) : [],
    isRefunded,
    state:
      { refunded: 'refunded', 'nothing was paid': 'expired', 'dust stays owed': 'waiting-refund' }[
        ends as string
      ] ?? 'completed',
  });
  if (ends === 'delivered') expect(fate.kept).toBe(revenueOf((await readOrder(pool, order.id))!, fate));
  expect((await auditOrders({ database: pool, node: world.bitcoind.rpc })).differences).toEqual([]);
}

/**
 * Revenue of a delivery: everything quoted except postage, plus an excess below dust. Each further payment adds an
 * input, which costs virtual bytes at the rate of the order.
 */
function revenueOf({ amount, quote, request, terms }: Order, fate: MoneyFate): number {
  const { left, paid, payments, sizes } = fate;
  const postage = terms.inventory === undefined ? quote.postage * request.count : 0;
  const tooMuch = left.reduce((rest, value) => rest - value, paid - Number(amount));
  const rate = Number(terms.feeRate);
  const fees = sizes.reduce((sum, size) => sum + Math.ceil((size * rate) / 1000), 0);
  const furtherInputs = payments - left.length === 1 ? 0 : fees - quote.chainFee;
  return quote.serviceFee - postage + tooMuch - furtherInputs;
}

/** Mines blocks until the order is in its final state. */
async function settle({ order, world }: Payer, owedMax: bigint): Promise<void> {
  const { chain, customerOrders, database } = world;
  const ends = ['completed', 'refunded', 'expired', 'waiting-refund'];
  await world.eventually(async () => {
    await chain.mineMempool();
    await world.eventually(() => areOrdersFollowed(database.pool, chain.rpc));
    const found = await customerOrders.read(order.id);
    const owed =
      balancesOf(await readEntries(database.pool, { kind: 'order', id: order.id })).get('owed') ?? 0n;
    if (!ends.includes(found!.order.state) || owed > owedMax)
      throw new Error(`${found!.order.state} with ${owed} sats owed\n${world.logged.join('')}`);
    return true;
  });
}

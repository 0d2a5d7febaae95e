import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { showFunds } from '#orders/operator/operator-funds.ts';
import { wakeOrder } from '#orders/order/order-wishes.store.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { lentParents } from '../lent-parents.ts';
import type { StockRoom } from '../stock-room.ts';

/** A created order, and its expected end if its customer pays `todo`. */
export interface MadeOrder {
  readonly id: string;
  /** Contents that no other order inscribes. */
  readonly contents: readonly string[];
  /** The order's scripts for its charge, its receiver and its refunds, in hex. */
  readonly address: string;
  readonly receiver: string;
  readonly refund: string;
  /** Script of the inventory whose sat the order uses. Default: none. */
  readonly inventory?: string;
  /** Sats. */
  readonly amount: number;
  readonly end: 'delivered' | 'refunded' | 'owed' | 'burned' | 'returned';
  /** Sats that the customer still has to pay. */
  readonly todo: number;
}

const firstOwner = 60_000;
/** Terms of an order of two files. The payment goes to the wallet, which makes a commit. */
const managed = { count: 2, terms: { type: 'bulk' } } as const;
const rich = 300_000n;

/**
 * Makes orders of each kind and state, with real payments. Some are delivered, refunded or owed. Others are unpaid,
 * paid in part, unconfirmed, revealed, burned, bumped, on an inventory sat, managed, or with a parent. Nothing
 * processes the orders afterwards.
 */
export async function makeOrdersInEveryState(room: StockRoom): Promise<Record<string, MadeOrder>> {
  const { world } = room;
  const { chain, database, customerOrders } = world;
  const { inscribed, termsOf, ordered, to, send } = lentParents(() => world);
  const made: Record<string, MadeOrder> = {};
  let owners = firstOwner;
  const hexOf = (script: Uint8Array): string => Buffer.from(script).toString('hex');

  type More = NonNullable<Parameters<typeof ordered>[2]>;
  async function order(
    name: string,
    end: MadeOrder['end'],
    {
      count = 1,
      parents = [],
      ...more
    }: More & { count?: number; parents?: Parameters<typeof ordered>[1] } = {},
  ) {
    const [receiver, refund] = [scriptOf(owners++), scriptOf(owners++)];
    const contents = Array.from({ length: count }, (_, file) => `${name} ${file}`);
    const terms = { receivers: [receiver], ...more.terms };
    const placed = await ordered(contents, parents, { refundScript: refund, ...more, terms });
    const amount = placed.charge.value;
    const scripts = {
      address: hexOf(scriptOfOutput(placed.charge)),
      receiver: hexOf(receiver),
      refund: hexOf(refund),
    };
    made[name] = { id: placed.id, contents, ...scripts, amount, end, todo: 0 };
    return placed;
  }
  const todo = (name: string, sats: number): void => {
    made[name] = { ...made[name]!, todo: sats };
  };
  async function expire(id: string): Promise<void> {
    await database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '1 second', look_at = now() WHERE id = $1`,
      [id],
    );
    await wakeOrder(database.pool, id);
  }
  const mine = async (): Promise<void> => {
    await chain.mineMempool();
    await world.indexed();
  };
  const missingOf = async (id: string): Promise<number> => {
    const found = await customerOrders.read(id);
    return (orderAnswer(found!.order, found!, networks.regtest, 'http://orders.test') as { missing: number })
      .missing;
  };

  // finished orders
  const ended = [
    await order('delivered', 'delivered'),
    await order('delivered richly', 'delivered', { terms: { additionalFee: rich } }),
    await order('delivered in parts', 'delivered', { count: 2, terms: { uncurse: true } }),
    await order('managed and delivered', 'delivered', managed),
  ];
  for (const { charge } of ended) await send([], [charge]);
  const over = await order('overpaid', 'delivered');
  await send([], [{ ...over.charge, value: over.charge.value + 40_000 }]);
  const burned = await order('burned', 'burned', { terms: { burn: true, receivers: [] } });
  await send([], [burned.charge]);
  await mine();
  for (const { id } of [...ended, over, burned]) await world.until(id, 'queued');
  for (const { id } of [...ended, over, burned]) await world.sent(id);
  await mine();
  for (const { id } of [...ended, over, burned]) await world.until(id, 'completed');
  await world.sent(over.id, ['refund']);

  const tooLate = [
    await order('refunded', 'refunded'),
    await order('managed and refunded', 'refunded', managed),
  ];
  for (const { id, charge } of tooLate) {
    await expire(id);
    await world.until(id, 'expired');
    await send([], [charge]);
  }
  const owed = await order('owed', 'owed', { refundScript: null });
  await expire(owed.id);
  await world.until(owed.id, 'expired');
  await send([], [owed.charge]);
  await mine();
  await world.until(owed.id, 'waiting-refund');
  for (const { id } of tooLate) await world.sent(id, ['refund']);
  await mine();
  for (const { id } of tooLate) await world.until(id, 'refunded');

  const [lent, waited, sentHome] = [
    await inscribed(['parent of a delivery']),
    await inscribed(['parent that waits']),
    await inscribed(['parent that returns']),
  ];
  const withParent = await order('delivered with a parent', 'delivered', { parents: [termsOf(lent[0]!)] });
  await send(lent, [to(withParent.deposits[0], lent[0]!), withParent.charge]);
  await world.until(withParent.id, 'waiting-confirmation');
  await world.deliver(withParent.id);

  const { address } = await showFunds(
    database.pool,
    world.wallet,
    proveFree(database.pool),
    async () => null,
  );
  await chain.payAddress(address, 500_000);
  const stocked = [await room.stock(5000, 20_000), await room.stock(0, 12_000)];
  const inventory = hexOf(stocked[0]!.script);
  async function ofStock(name: string): Promise<Parameters<typeof send>[1][number]> {
    const [receiver, refund] = [owners++, owners++];
    const content = `${name} 0`;
    const { status, body } = await room.post<{ id: string; charge: { amount: number } }>('/inscribe', {
      files: [
        {
          name: 'a.txt',
          size: content.length,
          dataURL: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
        },
      ],
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refund),
      fee: 3,
      rareSats: 'uncommon',
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    const { script } = (await customerOrders.read(body.id))!.order;
    const scripts = {
      address: hexOf(script),
      receiver: hexOf(scriptOf(receiver)),
      refund: hexOf(scriptOf(refund)),
    };
    made[name] = {
      id: body.id,
      contents: [content],
      ...scripts,
      inventory,
      amount: body.charge.amount,
      end: 'delivered',
      todo: 0,
    };
    return { outputScript: script, value: body.charge.amount };
  }

  // all orders from here on stay open, because fees rise and sent transactions stay in the mempool
  const stuck = await order('stuck', 'delivered');
  await send([], [stuck.charge]);
  await mine();
  await world.until(stuck.id, 'queued');
  await world.sent(stuck.id);
  await world.stop();
  world.bumps = { ...world.bumps, afterMs: 0 };
  await world.follow();
  await world.raiseFees(20);
  await database.pool.query(`UPDATE service.orders SET paid_estimate = 2000, look_at = now() WHERE id = $1`, [
    stuck.id,
  ]);
  await world.eventually(async () => {
    const { rowCount } = await database.pool.query(
      `SELECT FROM service.wallet_transactions WHERE kind = 'bump' AND sent_at IS NOT NULL`,
    );
    return rowCount !== 0;
  });
  await world.stop();
  world.bumps = { ...world.bumps, afterMs: 3_600_000 };
  await world.follow();

  const underWay = [
    await order('revealed', 'delivered'),
    await order('revealed in parts', 'delivered', { count: 2, terms: { uncurse: true } }),
    await order('managed and revealed', 'delivered', managed),
    await order('burning', 'burned', { terms: { burn: true, receivers: [] } }),
  ];
  const charges = [...underWay.map(({ charge }) => charge), await ofStock('revealed on stock')];
  await send([], charges);
  // these two orders wait for money in blocks
  const short = [await order('short', 'delivered'), await order('managed and short', 'delivered', managed)];
  for (const { charge } of short) await send([], [{ ...charge, value: charge.value - 1000 }]);
  const returning = await order('parent returns', 'returned', { parents: [termsOf(sentHome[0]!)] });
  await world.until(returning.id, 'waiting-parent');
  await send(sentHome, [to(returning.deposits[0], sentHome[0]!)]);
  const waiting = await order('parent waits', 'delivered', { parents: [termsOf(waited[0]!)] });
  await world.until(waiting.id, 'waiting-parent');
  await send(waited, [to(waiting.deposits[0], waited[0]!)]);
  await mineAllBut(stuck.id);
  for (const id of [...underWay.map(({ id }) => id), made['revealed on stock']!.id]) {
    await world.until(id, 'queued');
    await world.sent(id);
  }
  todo('short', await missingOf(short[0]!.id));
  todo('managed and short', await missingOf(short[1]!.id));
  await world.until(waiting.id, 'waiting-payment');
  todo('parent waits', waiting.charge.value);
  await expire(returning.id);
  await world.sent(returning.id, ['return']);
  const seen = [await order('seen', 'delivered'), await order('managed and seen', 'delivered', managed)];
  for (const { charge } of seen) await send([], [charge]);
  for (const { id } of seen) await world.until(id, 'waiting-confirmation');
  todo('unpaid', (await order('unpaid', 'delivered')).charge.value);
  todo('managed and unpaid', (await order('managed and unpaid', 'delivered', managed)).charge.value);
  todo(
    'unpaid in parts',
    (await order('unpaid in parts', 'delivered', { count: 2, terms: { uncurse: true } })).charge.value,
  );
  todo('unpaid on stock', (await ofStock('unpaid on stock')).value);
  await world.stop();
  return made;

  /** Mines the complete mempool except the transactions of an order, and their inputs. */
  async function mineAllBut(id: string): Promise<void> {
    const { rows } = await withTransaction(database.pool, (tx) =>
      tx.query<{ txid: Buffer }>(
        `SELECT txid FROM service.wallet_transactions WHERE order_id = $1
          UNION ALL SELECT bump FROM service.bump_shares WHERE order_id = $1`,
        [id],
      ),
    );
    const kept = new Set(rows.map(({ txid }) => Buffer.from(txid).reverse().toString('hex')));
    const rpc = world.bitcoind.rpc;
    const txids = await rpc.call<string[]>('getrawmempool');
    const taken = await Promise.all(
      txids
        .filter((txid) => !kept.has(txid))
        .map(async (txid) => {
          const { fees, ancestorcount } = await rpc.call<{ fees: { base: number }; ancestorcount: number }>(
            'getmempoolentry',
            [txid],
          );
          return {
            txid,
            hex: await rpc.call<string>('getrawtransaction', [txid]),
            fee: Math.round(fees.base * 1e8),
            ancestorcount,
          };
        }),
    );
    await chain.mine(taken.toSorted((a, b) => a.ancestorcount - b.ancestorcount) as never);
    await world.indexed();
  }
}

const scriptOfOutput = (output: { outputScript?: Uint8Array }): Uint8Array => output.outputScript!;

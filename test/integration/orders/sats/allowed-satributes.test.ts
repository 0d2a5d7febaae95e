import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { auditOrders } from '#orders/audit/audit-orders.ts';
import { inscribedPlaces } from '#orders/inscribing/inscribed-places.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { Collector } from '#test/support/orders/collector.ts';
import { home, lentParents, owner, refunded } from '#test/support/orders/lent-parents.ts';
import { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import { verdictOfOrder } from '#test/support/orders/order-verdict.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';

interface Case {
  readonly name: string;
  readonly allowed?: readonly string[];
  readonly files?: number;
  /** Whether each file has its own reveal, of a commit of the wallet. */
  readonly uncurse?: boolean;
  /** Sats of dust that may remain owed, because other cases decide the estimate of the node. */
  readonly owedMax?: bigint;
  readonly terms?: Partial<OrderTerms>;
  /** Whether each inscription is on its own special sat. */
  readonly apart?: boolean;
  readonly run: (collector: Collector) => Promise<unknown>;
  readonly ends: 'completed' | 'refunded';
}

const cases: readonly Case[] = [
  {
    name: 'the special sat first',
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'completed',
  },
  {
    name: 'the special sat is in the change, which the wallet put first',
    run: async (collector) =>
      collector.send([await collector.special()], [{ kept: 5000 }, { paid: collector.amount }]),
    ends: 'refunded',
  },
  {
    name: 'the special sat in the middle of the output',
    run: async (collector) => {
      const common = await collector.common();
      const special = await collector.special();
      await collector.send([common, special], [{ kept: common.value - 1000 }, { paid: collector.amount }]);
    },
    ends: 'refunded',
  },
  {
    name: 'a sat that the order does not allow',
    // the sats of these satributes are above all coins of the test
    allowed: ['rare', 'block-286'],
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'refunded',
  },
  {
    name: 'common sats',
    run: async (collector) => collector.send([await collector.common()], [{ paid: collector.amount }]),
    ends: 'refunded',
  },
  {
    name: 'in two outputs, the special one second',
    run: async (collector) => {
      const common = await collector.common();
      const rest = { paid: collector.amount - 600 };
      const special = await collector.special();
      const kept = { kept: common.value - rest.paid };
      await collector.send([common, special], [rest, kept, { paid: 600 }]);
    },
    ends: 'completed',
  },
  {
    name: 'in two transactions, the special one last',
    run: async (collector) => {
      await collector.send([await collector.common()], [{ paid: collector.amount - 600 }]);
      await collector.mine();
      await collector.send([await collector.special()], [{ paid: 600 }]);
    },
    ends: 'completed',
  },
  {
    name: 'the special sat in a small output, and a stranger sends more dust than is looked up',
    owedMax: 25n * 330n,
    run: async (collector) => {
      const common = await collector.common();
      const rest = { paid: collector.amount - 600 };
      const special = await collector.special();
      await collector.send([common, special], [rest, { kept: common.value - rest.paid }, { paid: 600 }]);
      const stranger = await collector.common();
      await collector.send(
        [stranger],
        Array.from({ length: 25 }, () => ({ paid: 330 })),
      );
    },
    ends: 'completed',
  },
  {
    name: 'the special sat in an output below the cost of its input, until the order learns its sats',
    terms: { feeRate: 100_000n },
    run: async (collector) => {
      const special = await collector.special();
      await collector.send([special], [{ paid: 546 }, { paid: collector.amount - 546 }]);
      for (let asked = 0; asked < 2; asked++) {
        const paid = await collector.missing();
        await collector.send([await collector.common()], [{ paid }]);
        await collector.world.until(collector.order.id, 'waiting-confirmation');
        await collector.mine();
      }
    },
    ends: 'completed',
  },
  {
    name: 'the least postage',
    terms: { postage: 'least' },
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'completed',
  },
  {
    name: 'late',
    run: async (collector) => {
      await collector.expire();
      await collector.world.until(collector.order.id, 'expired');
      await collector.send([await collector.special()], [{ paid: collector.amount }]);
    },
    ends: 'refunded',
  },
  {
    name: 'after it was cancelled',
    run: async (collector) => {
      expect(await collector.world.customerOrders.cancel(collector.order.id)).toBe(true);
      await collector.send([await collector.special()], [{ paid: collector.amount }]);
    },
    ends: 'refunded',
  },
  {
    name: 'taken back by a reorganisation once its reveal is sent',
    run: async (collector) => {
      const { chain } = collector.world;
      await collector.send([await collector.special()], [{ paid: collector.amount }]);
      await collector.mine();
      await collector.world.until(collector.order.id, 'queued');
      await collector.world.sent(collector.order.id);
      await chain.takeBack(1);
      await chain.mineEmpty(2);
      await collector.world.indexed();
    },
    ends: 'completed',
  },
  {
    name: 'common sats that a reorganisation removes once they are owed',
    run: async (collector) => {
      const { chain } = collector.world;
      await collector.send([await collector.common()], [{ paid: collector.amount }]);
      await collector.mine();
      await collector.world.until(collector.order.id, 'waiting-refund');
      await chain.takeBack(1);
      await chain.mineEmpty(2);
      await collector.world.indexed();
    },
    ends: 'refunded',
  },
  {
    name: 'three inscriptions, each on an allowed sat',
    allowed: ['vintage'],
    files: 3,
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'completed',
  },
  {
    name: 'three inscriptions, only the first on an allowed sat',
    files: 3,
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'refunded',
  },
  {
    name: 'two inscriptions, each on the special sat of an output of its own, paid after their fees',
    files: 2,
    apart: true,
    run: async (collector) => {
      const common = await collector.common();
      const rest = { paid: collector.amount - 1092 };
      const specials = [await collector.special(), await collector.special()];
      await collector.send(
        [common, ...specials],
        [
          rest,
          { kept: common.value - rest.paid },
          { paid: 546 },
          { kept: specials[0]!.value - 546 },
          { paid: 546 },
        ],
      );
    },
    ends: 'completed',
  },
  {
    name: 'three reveals, each on an allowed sat',
    allowed: ['vintage'],
    files: 3,
    uncurse: true,
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'completed',
  },
  {
    name: 'three reveals of a payment in two outputs, the second of which costs the service an input',
    allowed: ['vintage'],
    files: 3,
    uncurse: true,
    run: async (collector) => {
      await collector.send([await collector.special()], [{ paid: 700 }, { paid: collector.amount - 700 }]);
    },
    ends: 'completed',
  },
  {
    name: 'three reveals, only the first on an allowed sat',
    files: 3,
    uncurse: true,
    run: async (collector) => collector.send([await collector.special()], [{ paid: collector.amount }]),
    ends: 'refunded',
  },
];

/** Checks that an order ended in the way that was predicted while the order still accepted money. */
function expectForetold({ foretold }: Collector, sats: readonly number[], isDelivered: boolean): void {
  if (foretold === null) return;
  expect(foretold.kind).toBe(isDelivered ? 'delivered' : 'refunded');
  if (foretold.kind === 'delivered') expect(sats).toEqual(foretold.inscribed.map(({ sat }) => sat));
}

const firstOwner = 40_000;
/** Maximum number of sats that are worth less than the fee of a refund, at any fee rate. */
const worthlessMax = 440n;
const hexOfScript = (script: Uint8Array): string => Buffer.from(script).toString('hex');
const hexOf = (owner: number): string => hexOfScript(scriptOf(owner));

describe.skipIf(bitcoindForTests() === null)('an order with allowedSatributes', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 160, { indexSats: true });
  });
  afterAll(() => world?.close());

  async function settle(id: string, owedMax = worthlessMax): Promise<void> {
    const { chain, customerOrders, database } = world;
    await world.eventually(async () => {
      await chain.mineMempool();
      await world.eventually(() => areOrdersFollowed(database.pool, chain.rpc));
      const found = await customerOrders.read(id);
      const owed = balancesOf(await readEntries(database.pool, { kind: 'order', id })).get('owed') ?? 0n;
      if (!['completed', 'refunded'].includes(found!.order.state) || owed > owedMax)
        throw new Error(
          `${found!.order.state} (${found!.order.error}) with ${owed} sats owed\n${world.logged.join('')}`,
        );
      return true;
    });
  }

  /** Reads the sats of an order's inscriptions from the index of sats. */
  async function indexedSats(id: string): Promise<number[]> {
    const found = await world.customerOrders.read(id);
    const reveals = found!.transactions
      .filter(({ kind }) => kind === 'reveal')
      .map(({ txid }) => Buffer.from(txid));
    const { rows } = await world.database.pool.query<{ sat: number }>(
      `SELECT s.sat FROM chain.inscriptions AS i JOIN chain.sats AS s USING (key)
        WHERE i.txid = ANY($1) ORDER BY array_position($1::bytea[], i.txid), i.index`,
      [reveals],
    );
    return rows.map(({ sat }) => Number(sat));
  }

  test.each(cases.map((each, place) => ({ ...each, place })))(
    '$name: $ends',
    async ({
      place,
      name,
      run,
      ends,
      allowed = ['uncommon'],
      files = 1,
      uncurse = false,
      apart,
      owedMax = worthlessMax,
      terms,
    }) => {
      const from = await world.chain.height();
      const [receiver, refund] = [firstOwner + 2 * place, firstOwner + 2 * place + 1];
      const contents = Array.from({ length: files }, (_, file) => `${name} ${file}`);
      const made = wantedOrder(contents, { receivers: [scriptOf(receiver)], uncurse, ...terms });
      const { order } = await world.customerOrders.create({
        ...made,
        request: { ...made.request, allowedSatributes: allowed },
        refundScript: scriptOf(refund),
      });
      const collector = new Collector(world, order);
      await run(collector);
      await settle(order.id, owedMax);
      const chain = await ChainMoney.read(world.bitcoind.rpc, Math.max(1, from - 1));
      const ofTest = { id: order.id, contents, receivers: [hexOf(receiver)], refund: hexOf(refund) };
      const { fate, faults, lost, state } = await verdictOfOrder(world.database.pool, chain, ofTest);
      expect({ faults, lost, state }).toEqual({ faults: [], lost: 0, state: ends });
      const isDelivered = ends === 'completed';
      expect(fate.delivered).toEqual(isDelivered ? contents.map(() => made.quote.postage) : []);
      expect(fate.refunded > 0 && owedMax === worthlessMax).toBe(!isDelivered);
      const [sat = NaN] = collector.sats;
      const sats = await indexedSats(order.id);
      expectForetold(collector, sats, isDelivered);
      if (!isDelivered) expect(sats).toEqual([]);
      else if (apart === true) expect(sats).toEqual(collector.sats);
      else if (!uncurse) expect(sats).toEqual(contents.map((_, file) => sat + file * 546));
      else {
        const places = inscribedPlaces(made.terms, made.layout, {
          payments: chain.paidTo(hexOfScript(order.script)).map(({ value }) => ({ value: BigInt(value) })),
          parents: [],
        });
        expect(sats).toEqual('places' in places ? places.places.map((place) => sat + place) : places.reason);
      }
      const audit = await auditOrders({ database: world.database.pool, node: world.bitcoind.rpc });
      expect(audit.differences).toEqual([]);
    },
  );

  const {
    inscribed,
    termsOf,
    ordered,
    to,
    send,
    etchedOften,
    shown,
    place,
    expectAt,
    expectChildren,
    audited,
  } = lentParents(() => world);

  test.each([
    // the first output of the reveal has only the postage
    {
      name: 'a child that is not cursed',
      texts: ['child 1'],
      allowed: 'uncommon',
      named: 10_000,
      uncurse: true,
    },
    { name: 'one child', texts: ['child 2'], allowed: 'uncommon', named: 9_000, uncurse: false },
    {
      name: 'children',
      texts: ['child 3', 'child 4', 'child 5'],
      allowed: 'vintage',
      named: 9_900,
      uncurse: false,
    },
  ])('$name of a parent is on allowed sats of the payment', async ({ texts, allowed, named, uncurse }) => {
    const [parent] = await inscribed([`parent of ${texts.join()}`]);
    const parents = [termsOf(parent!, scriptOf(home), named)];
    const { request } = wantedOrder(texts, { parents, uncurse });
    const { id, deposits, charge } = await ordered(texts, parents, {
      terms: { uncurse },
      request: { ...request, allowedSatributes: [allowed] },
    });
    // the first sat of the payment is the first sat of a block
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    await expectChildren(id, texts, [parent!]);
    await expectAt(parent!, scriptOf(home));
    const [first = NaN, ...others] = await indexedSats(id);
    expect(first % 5_000_000_000).toBe(0);
    // pointers count from the value in the terms
    expect(others).toEqual(texts.slice(1).map((_, place) => first + (place + 1) * 546 + named - 10_000));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test.each([
    { name: 'after its postage', offset: 600, ends: 'refunded' },
    { name: 'in its postage', offset: 100, ends: 'completed' },
  ])('an inscription in the coin of the special sat, $name: $ends', async ({ name, offset, ends }) => {
    const { chain } = world;
    const { request } = wantedOrder([name]);
    const { id, charge } = await ordered([name], [], {
      request: { ...request, allowedSatributes: ['uncommon'] },
    });
    // the reveal puts the inscription on a sat of the coin whose first sat is special
    const coin = await chain.coin();
    const made = await chain.inscribe(
      { contentType: 'text/plain', body: name, pointer: offset },
      { payments: [{ value: charge.value, to: owner }], parents: [coin] },
    );
    const split = { ...made, id: parseInscriptionId(made.reveal.id(0))! };
    await chain.mine(split.transactions);
    await world.indexed();
    // the complete coin goes into the first output, and other money pays for its return
    const held = { id: split.id, coin: split.reveal.coin(0) };
    await send([held], [charge, { ...charge, value: 30_000 }]);
    await chain.mineMempool();
    await settle(id);
    expect((await shown(id)).state).toBe(ends);
    const sats = await indexedSats(id);
    expect(sats.map((sat) => sat % 5_000_000_000)).toEqual(ends === 'completed' ? [0] : []);
    const { script } = await place(held.id);
    const receiver = ends === 'completed' ? scriptOf(700) : scriptOf(refunded);
    expect(script.toString('hex')).toBe(hexOfScript(receiver));
    await audited(id);
  });

  test('children of a parent on other sats are not made, and the parent returns', async () => {
    const texts = ['no child', 'no child either'];
    const [parent] = await inscribed(['parent of none']);
    const parents = [termsOf(parent!)];
    const { request } = wantedOrder(texts, { parents });
    const { id, deposits, charge } = await ordered(texts, parents, {
      request: { ...request, allowedSatributes: ['uncommon'] },
    });
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: charge.value + 10_000 }]);
    await world.chain.mineMempool();
    await world.until(id, 'waiting-refund');
    await settle(id);
    expect(await indexedSats(id)).toEqual([]);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      await world.indexed();
      await expectAt(parent!, scriptOf(home));
      return true;
    });
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('children of parents whose runes cost too much to return are not made, and no more money is requested', async () => {
    const lent = [await etchedOften('without a child', 1), await etchedOften('of none either', 9)];
    const parents = lent.map((parent) => termsOf(parent));
    // each file has its own reveal
    const texts = ['x', 'y'].map((text) => text.repeat(200_000));
    const terms = { feeRate: 400_000n };
    const { request } = wantedOrder(texts, { parents, ...terms });
    const { id, deposits, charge } = await ordered(texts, parents, {
      terms,
      request: { ...request, allowedSatributes: ['vintage'] },
    });
    for (const [index, parent] of lent.entries()) await send([parent], [to(deposits[index], parent)]);
    await send([], [charge]);
    await world.chain.mineMempool();
    await world.until(id, 'error');
    expect((await shown(id)).error).toContain("parents' runes");
    await refundOrder(world.database.pool, id, scriptOf(home));
    await settle(id);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      await world.indexed();
      for (const parent of lent) await expectAt(parent, scriptOf(home));
      return true;
    });
  });
});

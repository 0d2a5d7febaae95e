import { afterEach, describe, expect, test } from 'vitest';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseTxid, trustedTxid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createLogger } from '#kernel/reports/logger.ts';
import { readBumps } from '#orders/bumping/bump.store.ts';
import type { WantedOrder } from '#orders/creating/create-order.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { allFreeCoins } from '#orders/funds/free-coins.ts';
import { ReturnCoins } from '#orders/funds/return-coins.ts';
import { readFreeSats } from '#orders/funds/spare-sats.ts';
import { type AskNode, showFunds } from '#orders/operator/operator-funds.ts';
import { listOrders, showOrder } from '#orders/operator/operator-orders.ts';
import { readOrder } from '#orders/order/order.store.ts';
import { putReferral } from '#orders/referrals/referral.store.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { reservedSats } from '#payouts/owed/reserved-sats.queries.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { supersede } from '#purse/transactions/supersede.store.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { envelopeScript } from '#test/builders/regtest/regtest-envelope.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder as wantedWithoutEstimate } from '#test/builders/wanted-order.ts';
import { type BitcoindOptions } from '#test/support/node/bitcoind.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { referredOrder } from '#test/support/orders/partners.ts';
import { runCli } from '#test/support/run-cli.ts';
import type { FoundOutput } from '#wallet/restoring/find-outputs.ts';
import { sweep } from '#wallet/restoring/sweep.ts';

const refunded = 701;

/** An order at the fee rate that the node estimated when the order was paid. */
function wantedOrder(...parts: Parameters<typeof wantedWithoutEstimate>): WantedOrder {
  const wanted = wantedWithoutEstimate(...parts);
  return { ...wanted, quote: { ...wanted.quote, feeEstimate: Number(wanted.terms.feeRate) } };
}

describe.skipIf(bitcoindForTests() === null)('stuck transactions of orders', () => {
  let world: OrderWorld;
  afterEach(() => world?.close());

  const askNode = async (): Promise<AskNode> => (coin, where) => isUnspent(world.bitcoind.rpc, coin, where);

  /** Starts a service that bumps stuck transactions at once. It spends up to this many sats for an order. */
  async function start(maxSats: bigint, options: BitcoindOptions = {}): Promise<void> {
    world = await OrderWorld.start(options);
    await payUpTo(maxSats);
  }

  async function payUpTo(maxSats: bigint): Promise<void> {
    await world.stop();
    world.bumps = { ...world.bumps, maxSats, afterMs: 0 };
    await world.follow();
  }

  /** Makes it look as if orders were paid at the estimates of their quotes, before fees rose. */
  async function feesRoseSince(ids: readonly string[]): Promise<void> {
    await world.database.pool.query(
      `UPDATE service.orders SET paid_estimate = (quote->>'feeEstimate')::bigint WHERE id = ANY($1::uuid[])`,
      [ids],
    );
  }

  /** Makes orders, pays them in one block before fees rise, and waits until their reveals are sent. */
  async function queued(wanted: readonly ReturnType<typeof wantedOrder>[]): Promise<string[]> {
    const ids = await paid(wanted);
    await feesRoseSince(ids);
    return ids;
  }

  /** Makes orders, pays them in one block at the current estimate, and waits until their reveals are sent. */
  async function paid(wanted: readonly ReturnType<typeof wantedOrder>[]): Promise<string[]> {
    const made = [];
    for (const each of wanted) made.push((await world.customerOrders.create(each)).order);
    const ids = made.map(({ id }) => id);
    const coin = await world.chain.coin();
    const charges = made.map(({ script, amount }) => ({ outputScript: script, value: Number(amount) }));
    const rest = coin.value - charges.reduce((sum, { value }) => sum + value, 100_000);
    await world.chain.mine([transaction([coin], [...charges, { value: rest }])]);
    for (const id of ids) await world.until(id, 'queued');
    for (const id of ids) await world.sent(id);
    return ids;
  }

  /** Makes delivered orders. Each of them leaves a coin of this many sats. */
  async function earn(coins: number, value: bigint): Promise<void> {
    const ids = await queued(
      Array.from({ length: coins }, (_, index) => wantedOrder([`rich ${index}`], { additionalFee: value })),
    );
    await world.chain.mineMempool();
    for (const id of ids) await world.until(id, 'completed');
  }

  const idOf = async (id: string): Promise<string> => {
    const found = (await world.customerOrders.read(id))!;
    return (
      orderAnswer(found.order, found, networks.regtest, 'http://orders.test') as {
        files: { inscriptionId: string }[];
      }
    ).files[0]!.inscriptionId;
  };
  const mempool = () => world.bitcoind.rpc.call<string[]>('getrawmempool');
  const bumpsOf = (id: string) => readBumps(world.database.pool, id);
  /** Waits until the node has this many bumps of orders, and returns their txids. */
  const bumped = (ids: readonly string[], count: number) =>
    world.eventually(async () => {
      const all = (await Promise.all(ids.map(bumpsOf)))
        .flat()
        .filter(({ sentAt, isDead }) => sentAt !== null && !isDead);
      const txids = new Set(all.map(({ txid }) => Buffer.from(txid).toString('hex')));
      if (txids.size === count) return all;
      const shown = await listOrders(world.database.pool, 'queued', 3);
      throw new Error(`${txids.size} bumps; ${JSON.stringify(shown)}\n${world.logged.join('')}`);
    });
  async function account(id: string, name: 'operator' | 'owed'): Promise<number> {
    const balances = balancesOf(await readEntries(world.database.pool, { kind: 'order', id }));
    return Number(balances.get(name) ?? 0n);
  }

  /** Fee rate in sats per virtual byte that a miner gets for a transaction together with its bump. */
  async function effectiveRate(txid: string): Promise<number> {
    const entry = await world.bitcoind.rpc.call<{ chunkweight: number; fees: { chunk: number } }>(
      'getmempoolentry',
      [txid],
    );
    return (entry.fees.chunk * 1e8 * 4) / entry.chunkweight;
  }

  test('fifty are bumped within the limits of clusters, survive a restart of the node, and keep their ids', {
    tags: ['proof'],
  }, async () => {
    // nothing is bumped until all transactions are stuck
    await start(0n, { extra: ['-limitclustercount=25', '-persistmempool=0'] });
    await earn(3, 300_000n);
    await world.raiseFees(20);
    const ids = await queued(Array.from({ length: 50 }, (_, index) => wantedOrder([`stuck ${index}`])));
    const inscriptionIds = await Promise.all(ids.map(idOf));
    await payUpTo(20_000n);
    // clusters have 25 transactions: 24 reveals and their child
    await bumped(ids, 3);
    for (const id of inscriptionIds) expect(await effectiveRate(id.slice(0, 64))).toBeGreaterThan(17);
    const before = (await mempool()).toSorted();
    expect(before).toHaveLength(53);
    // bumps are sent again at any age
    await world.database.pool.query(
      `UPDATE service.wallet_transactions SET made_at = made_at - interval '40 days' WHERE kind = 'bump'`,
    );
    await world.bitcoind.restart();
    await world.eventually(async () => expect((await mempool()).toSorted()).toEqual(before));
    await world.chain.mineMempool();
    for (const id of ids) await world.until(id, 'completed');
    expect(await Promise.all(ids.map(idOf))).toEqual(inscriptionIds);
    await world.eventually(async () => {
      const costs = await Promise.all(ids.map((id) => account(id, 'operator')));
      expect(costs.every((cost) => cost < 0 && cost >= -20_000)).toBe(true);
    });
    expect((await world.audit()).differences).toEqual([]);
  });

  test('are bumped as far as fees rose, if their customers chose to wait', async () => {
    await start(20_000n);
    await world.raiseFees(20);
    const low = wantedWithoutEstimate(['waits']);
    const risen = { ...wantedWithoutEstimate(['risen']), quote: { ...low.quote, feeEstimate: 10_000 } };
    const ids = await queued([{ ...low, quote: { ...low.quote, feeEstimate: 20_000 } }, low, risen]);
    await world.chain.mineEmpty(1);
    // fees are about twice as high as before
    const [bump] = await bumped(ids, 1);
    expect(bump!.fee).toBeLessThan(2000);
    expect(await Promise.all(ids.map(async (id) => (await bumpsOf(id)).length))).toEqual([0, 0, 1]);
    expect(await effectiveRate((await idOf(ids[2]!)).slice(0, 64))).toBeLessThan(5);
  });

  test('cost the operator nothing if they were paid after a rise of fees, however cheap their quote was', async () => {
    await start(20_000n);
    await earn(1, 300_000n);
    await world.raiseFees(15);
    const quotedAtOne = (text: string): WantedOrder => {
      const wanted = wantedWithoutEstimate([text], { feeRate: 1000n });
      return { ...wanted, quote: { ...wanted.quote, feeEstimate: 1000 } };
    };
    const ids = await paid(Array.from({ length: 10 }, (_, index) => quotedAtOne(`option ${index}`)));
    await world.chain.mineEmpty(2);
    // the bump of an order that was paid before shows that stuck transactions were processed
    const [risen = ''] = await queued([wantedOrder(['risen'])]);
    await world.chain.mineEmpty(1);
    await bumped([risen], 1);
    expect((await Promise.all(ids.map(bumpsOf))).flat()).toEqual([]);
    expect(await mempool()).toHaveLength(12);
    await world.chain.mineMempool();
    for (const id of ids) await world.until(id, 'completed');
    expect(await Promise.all(ids.map((id) => account(id, 'operator')))).toEqual(ids.map(() => 0));
    expect((await world.audit()).differences).toEqual([]);
  });

  test('are bumped again if the bump is stuck, too, and cost the order only one of both', async () => {
    await start(400n);
    await earn(1, 300_000n);
    await world.raiseFees(20);
    const [id = ''] = await queued([wantedOrder(['twice'])]);
    await world.chain.mineEmpty(1);
    const [first] = await bumped([id], 1);
    await payUpTo(20_000n);
    const both = await world.eventually(async () => {
      const all = await bumpsOf(id);
      if (all.length > 1 && all.at(-1)!.sentAt !== null) return all;
      throw new Error(JSON.stringify([all, world.logged]));
    });
    expect(both.at(-1)!.fee).toBeGreaterThan(first!.fee);
    // the second bump replaced the first one
    expect(await mempool()).toHaveLength(2);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await world.eventually(async () => expect(await account(id, 'operator')).toBe(-both.at(-1)!.fee));
    expect((await world.audit()).differences).toEqual([]);
  });

  test('wait if the budget is spent, and the operator sees the reason', async () => {
    await start(300n);
    await world.raiseFees(20);
    const [id = ''] = await queued([wantedOrder(['poor'])]);
    await world.chain.mineEmpty(1);
    const [bump] = await bumped([id], 1);
    expect(bump).toMatchObject({ fee: 300, share: 300 });
    await world.chain.mineEmpty(1);
    await world.eventually(async () => {
      const [listed] = await listOrders(world.database.pool, 'queued', 10);
      expect(listed!.stuck).toMatch(/sat\/vB, and the limit of an order is 300 sats/u);
    });
    expect(await showOrder(world.database.pool, id)).toMatchObject({ bumps: [{ fee: 300, share: 300 }] });
    expect(await bumpsOf(id)).toHaveLength(1);
  });

  test('lose a bump whose coin is gone', { tags: ['proof'] }, async () => {
    await start(20_000n);
    await earn(1, 300_000n);
    await world.raiseFees(40);
    const [id = ''] = await queued([wantedOrder(['coin'])]);
    await world.chain.mineEmpty(1);
    const [bump] = await bumped([id], 1);
    await world.stop();
    const coins = await world.database.pool.query<{ txid: Buffer }>(
      `SELECT s.txid FROM service.wallet_spends AS s JOIN service.wallet_transactions AS t USING (txid)
        WHERE s.family = $1 AND t.order_id <> $2`,
      [Buffer.from(bump!.txid), id],
    );
    expect(coins.rows).toHaveLength(1);
    await withTransaction(world.database.pool, (tx) => supersede(tx, [trustedTxid(coins.rows[0]!.txid)]));
    expect(await bumpsOf(id)).toMatchObject([{ isDead: true }]);
  });

  test('without a coin wait until the operator adds some, which the ledger has', {
    tags: ['proof'],
  }, async () => {
    await start(20_000n);
    await world.raiseFees(20);
    const [id = ''] = await queued([wantedOrder(['funded'])]);
    await world.chain.mineEmpty(1);
    await world.eventually(async () => {
      const [listed] = await listOrders(world.database.pool, 'queued', 10);
      expect(listed!.stuck).toMatch(/no free coin that pays for it; satscribe wallet fund shows/u);
    });
    const { pool } = world.database;
    const shown = () => showFunds(pool, world.wallet, proveFree(pool), askNode);
    const { address, ...before } = await shown();
    expect(before).toEqual({ funds: [], free: 0, isNodeAsked: false });
    expect((await shown()).address).toBe(address);
    const fund = await world.chain.payAddress(address, 100_000);
    // no customer can order anything for this address
    const parsed = checkDestination({ address, network: networks.regtest, amount: null }, 'allowed');
    expect(
      await ownScriptsAmong(pool, [parsed.kind === 'refused' ? scriptOf(1) : parsed.script]),
    ).toHaveLength(1);
    await world.eventually(async () =>
      expect((await shown()).funds).toMatchObject([{ state: 'unconfirmed' }]),
    );
    expect(await allFreeCoins(pool, proveFree(pool))).toEqual([]);
    await world.chain.mine([fund]);
    const bump = await world.eventually(async () => {
      const all = await bumpsOf(id);
      const found = all.find(
        ({ sentAt, plan }) =>
          sentAt !== null && plan.inputs.some(({ outpoint }) => outpoint === `${fund.txid}:0`),
      );
      if (found !== undefined) return found;
      throw new Error(`${JSON.stringify(await listOrders(pool, 'queued', 3))}\n${world.logged.join('')}`);
    });
    expect(await effectiveRate((await idOf(id)).slice(0, 64))).toBeGreaterThan(12);
    const spending = await shown();
    expect(spending).toMatchObject({ funds: [{ sats: 100_000, state: 'spending' }], free: 0 });
    expect(spending.address).not.toBe(address);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await world.eventually(async () => expect(await account(id, 'operator')).toBe(-bump.fee));
    await world.indexed();
    const audit = await world.audit();
    expect([audit.differences, audit.funds]).toEqual([[], []]);
    expect(Object.fromEntries(audit.balances.map(({ account: of, sats }) => [of, sats]))).toMatchObject({
      operator: 100_000n - BigInt(bump.fee),
    });
    // the rest of a bump is a coin, and the revenue is also a coin
    const coins = await world.eventually(async () => {
      const found = await allFreeCoins(pool, proveFree(pool));
      return found.length > 0 && found;
    });
    expect(coins.map(({ value }) => value > 80_000n)).toEqual([true]);
    expect((await shown()).funds).toEqual([]);
  });

  test('do not use funds that a reorganisation removed, and the ledger has none', {
    tags: ['proof'],
  }, async () => {
    await start(20_000n);
    const { pool } = world.database;
    const { address } = await showFunds(pool, world.wallet, proveFree(pool), askNode);
    await world.chain.mine([await world.chain.payAddress(address, 70_000)]);
    const booked = () =>
      world
        .audit(1)
        .then(({ balances }) => balances.find(({ account: name }) => name === 'operator')?.sats ?? 0n);
    await world.eventually(async () => (await booked()) === 70_000n);
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.eventually(async () => (await booked()) === 0n);
    const { funds } = await showFunds(pool, world.wallet, proveFree(pool), askNode);
    expect(funds).toMatchObject([{ sats: 70_000, state: 'unconfirmed' }]);
    await world.chain.mineMempool();
    await world.eventually(async () => (await booked()) === 70_000n);
    expect((await world.audit()).funds).toEqual([]);
  });

  test('do not use funds that another wallet with the seed spent, and the audit names these', async () => {
    await start(20_000n);
    const { database, wallet, chain, bitcoind } = world;
    const shown = () => showFunds(database.pool, wallet, proveFree(database.pool), askNode);
    const { address } = await shown();
    const { script } = checkDestination({ address, network: networks.regtest, amount: null }, 'allowed') as {
      script: Uint8Array;
    };
    const fund = await chain.payAddress(address, 70_000);
    await chain.mine([fund]);
    await world.eventually(async () => expect(await shown()).toMatchObject({ free: 70_000 }));
    const index = Array.from({ length: 2000 }, (_, at) => at).find(
      (at) => wallet.ownAddress(at).address === address,
    );
    const coin: FoundOutput = {
      own: { key: { branch: 1, index: index! }, leafScript: null },
      script,
      txid: parseTxid(fund.txid)!,
      vout: 0,
      value: 70_000n,
      height: 1,
      orderId: null,
    };
    const [plan] = sweep([coin], scriptOf(refunded), 2000n).plans;
    await bitcoind.rpc.call('sendrawtransaction', [await world.signElsewhere(plan!)]);
    expect(await shown()).toMatchObject({
      funds: [{ sats: 70_000, state: 'spent elsewhere' }],
      free: 0,
      isNodeAsked: true,
    });
    await chain.mineMempool();
    await world.indexed();
    const env = {
      ...database.settings,
      BITCOIN_RPC_URL: bitcoind.rpcUrl,
      BITCOIN_COOKIE_FILE: bitcoind.cookieFile,
    };
    const asked = await runCli(['wallet', 'fund'], env);
    expect(asked.stdout).toContain(`spent elsewhere           70000 sats  ${fund.txid}:0\n`);
    const unasked = await runCli(['wallet', 'fund'], { ...env, BITCOIN_RPC_URL: 'http://127.0.0.1:1' });
    expect(unasked.stderr).toContain('the node could not be asked (node_unreachable)');
    expect(unasked.stdout).toContain(`free                      70000 sats  ${fund.txid}:0\n`);
    const audit = await runCli(['audit'], env);
    expect([audit.exitCode, audit.stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `\\nfunds of the operator\\n  missing ${fund.txid}:0: ledger 70000, chain 0 .*\\n    what to do: find .*restore, another wallet`,
          'u',
        ),
      ),
    ]);
  });

  test('with an excess payment are bumped, and the whole excess is refunded', {
    tags: ['proof'],
  }, async () => {
    await start(20_000n);
    await earn(1, 300_000n);
    await world.raiseFees(20);
    const wanted = { ...wantedOrder(['too much']), refundScript: scriptOf(refunded) };
    const { order } = await world.customerOrders.create(wanted);
    await world.chain.pay(order.script, Number(order.amount) + 50_000);
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    await feesRoseSince([order.id]);
    await world.chain.mineEmpty(1);
    await bumped([order.id], 1);
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    await world.sent(order.id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => expect(await account(order.id, 'owed')).toBe(0));
    const refund = (await world.customerOrders.read(order.id))!.transactions.find(
      ({ kind }) => kind === 'refund',
    )!;
    expect(refund.plan.outputs[0]!.value + refund.fee).toBe(50_000);
    expect((await world.audit()).differences).toEqual([]);
  });

  test('that the mempool dropped come back as a package with their bump', async () => {
    await start(20_000n, { extra: ['-maxmempool=5'] });
    await earn(1, 300_000n);
    const [id = ''] = await queued([wantedOrder(['dropped'])]);
    const txid = (await idOf(id)).slice(0, 64);
    const filling = Array.from({ length: 14 }, (_, index) =>
      envelopeScript({ contentType: 'image/png', body: Buffer.alloc(380_000, index) }),
    );
    const coin = await world.chain.coin();
    const commits = filling.map((commit) => ({ value: 2_000_000, commit }));
    const made = transaction([coin], [...commits, { value: coin.value - 30_000_000 }]);
    await world.chain.mine([made]);
    for (const index of filling.keys()) {
      if (!(await mempool()).includes(txid)) break;
      await world.chain.broadcast(transaction([made.coin(index)], [{ value: 1_500_000 - 20_000 * index }]));
    }
    expect(await mempool()).not.toContain(txid);
    await world.chain.mineEmpty(1);
    await bumped([id], 1);
    expect(await mempool()).toContain(txid);
    for (let block = 0; block < 3; block++) await world.chain.mineMempool();
    await world.until(id, 'completed');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('leave in free coins what is owed to a partner, to the sat, until there is more money', {
    tags: ['proof'],
  }, async () => {
    await start(20_000n);
    const { pool } = world.database;
    await putReferral(pool, { code: 'friend', address: addressOf(800), script: scriptOf(800) });
    const [earning = ''] = await queued([referredOrder('of a partner', 'friend', 30_000)]);
    await world.chain.mineMempool();
    await world.until(earning, 'completed');
    const freeSats = () => withTransaction(pool, (tx) => readFreeSats(tx, reservedSats));
    await world.eventually(async () =>
      expect(await freeSats()).toEqual({ free: 32_000n, reserved: 30_300n }),
    );
    // a return gets a coin for the sats beyond the bumps' share, but not for more
    const returns = new ReturnCoins();
    const lent = async (sats: bigint): Promise<number> => {
      expect(returns.take(earning, sats)).toBeNull();
      const parts = { node: world.bitcoind.rpc, proveFree: proveFree(pool), reserved: reservedSats };
      const found = await withTransaction(pool, (client) =>
        returns.find({ ...parts, client, log: createLogger('silent') }),
      );
      return found.length;
    };
    expect([await lent(1_701n), await lent(1_700n)]).toEqual([0, 1]);
    await world.raiseFees(20);
    const [id = ''] = await queued([wantedOrder(['held back'])]);
    await world.chain.mineEmpty(1);
    const [bump] = await bumped([id], 1);
    // the bump spends the order's own output, and the sats beyond the share
    expect(bump!.fee).toBe(2_000 + 1_700);
    expect(bump!.plan.outputs).toMatchObject([{ value: 30_300 }]);
    await world.eventually(async () => {
      const { stuck } = (await readOrder(pool, id))!;
      expect(stuck).toMatch(
        /and free coins have \d+ sats, but 30300 are reserved for partners and payouts; /u,
      );
    });
    expect(world.logged.join('')).toContain(
      'no stuck transactions are bumped now, because the free coins are reserved',
    );
    const { address } = await showFunds(pool, world.wallet, proveFree(pool), askNode);
    await world.chain.mine([await world.chain.payAddress(address, 100_000)]);
    const next = await world.eventually(async () => {
      const found = (await bumpsOf(id)).at(-1)!;
      return found.fee > bump!.fee && found.sentAt !== null && found;
    });
    expect(await effectiveRate((await idOf(id)).slice(0, 64))).toBeGreaterThan(12);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    await world.eventually(async () =>
      expect(await freeSats()).toEqual({ free: 134_000n - BigInt(next.fee), reserved: 30_300n }),
    );
    await world.indexed();
    const { differences, funds } = await world.audit();
    expect([differences, funds]).toEqual([[], []]);
  });
});

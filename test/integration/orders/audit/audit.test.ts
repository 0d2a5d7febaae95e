import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readLastAudit } from '#orders/audit/audit.store.ts';
import { keepAuditing } from '#orders/audit/keep-auditing.ts';
import { owingOrders } from '#orders/ledger/owed.queries.ts';
import { auditPayouts } from '#payouts/audit/audit-payouts.ts';
import { scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { runCli } from '#test/support/run-cli.ts';
import { takeBackPlan } from '#wallet/take-back.ts';

const refunded = 701;

/** SQL that adds a wrong entry to the ledger, for a transaction of the order or a payment to it. */
const forged = (from: string, to: string, of: 'reveal' | 'refund' | 'payment'): string =>
  of === 'payment'
    ? `${added} SELECT 'order', order_id, ${sidesOf(from, to)}, 0, 1, txid, vout FROM service.ledger_entries
        WHERE order_id = $1 AND vout IS NOT NULL LIMIT 1`
    : `${added} SELECT 'order', order_id, ${sidesOf(from, to)}, 0, 1, txid, NULL FROM service.wallet_transactions
        WHERE order_id = $1 AND kind = '${of}'`;
const added = `INSERT INTO service.ledger_entries
  (subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid, vout)`;
const sidesOf = (...accounts: readonly string[]): string =>
  accounts.map((account) => `'${account}', ${account === 'referral' ? `'friend'` : 'NULL'}`).join();
/** SQL that adds the opposite entry. */
const reversed = `${added} SELECT subject_kind, subject_id, to_account, to_owner, from_account, from_owner, asset, amount, txid, vout
  FROM service.ledger_entries`;

/** Faults of the database, with the differences that the audit finds for each. */
const faults: readonly { name: string; sql: string; found: readonly string[] }[] = [
  {
    name: 'a payment in no block',
    sql: forged('outside', 'owed', 'payment'),
    found: ['received', 'held'],
  },
  {
    name: 'a refund that was not paid',
    sql: forged('owed', 'outside', 'refund'),
    found: ['paid-back', 'held', 'overdrawn'],
  },
  {
    name: 'postage without an output',
    sql: forged('service', 'postage', 'reveal'),
    found: ['postage', 'held'],
  },
  { name: 'a fee that no miner got', sql: forged('service', 'fee', 'reveal'), found: ['fee', 'held'] },
  {
    name: 'an account that gave more than it had',
    sql: forged('referral', 'service', 'reveal'),
    found: ['overdrawn'],
  },
  {
    name: 'a transaction in no block',
    sql: `${added} VALUES ('order', $1, ${sidesOf('service', 'operator')}, 0, 1, sha256('none'), NULL)`,
    found: ['not-mined'],
  },
  {
    name: 'a mined transaction that the ledger takes back',
    sql: `${reversed}
           WHERE order_id = $1 AND txid = (
             SELECT txid FROM service.wallet_transactions WHERE order_id = $1 AND kind = 'refund')`,
    found: ['not-counted'],
  },
];

describe.skipIf(bitcoindForTests() === null)('the audit of orders', () => {
  let world: OrderWorld;
  /** A delivered order whose excess payment is refunded. */
  let delivered: string;
  /** An order that has ended, and that the operator has not refunded. */
  let owed: Awaited<ReturnType<OrderWorld['customerOrders']['create']>>['order'];
  beforeAll(async () => {
    world = await OrderWorld.start();
    const wanted = { ...wantedOrder(['one', 'two']), refundScript: scriptOf(refunded) };
    const { order } = await world.customerOrders.create(wanted);
    delivered = order.id;
    await world.chain.pay(order.script, wanted.quote.amount + 50_000);
    await world.deliver(order.id);
    await world.sent(order.id, ['refund']);
    ({ order: owed } = await world.customerOrders.create({ ...wantedOrder(['short']), timeoutMinutes: 0 }));
    await world.chain.pay(owed.script, 1500);
    await world.until(owed.id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.indexed();
    // wait until the ledger has both the refund and the payment
    await world.eventually(async () => (await world.audit(1)).differing === 0);
    await world.stop();
  });
  afterAll(() => world?.close());

  const differencesOf = async (id: string) => {
    const { differences } = await world.audit(1);
    return differences.filter(({ order }) => order.id === id);
  };
  const kindsOf = async (id: string): Promise<string[]> =>
    (await differencesOf(id)).map(({ kind }) => kind).toSorted();

  test('finds nothing if everything agrees with the ledger, and adds up all accounts', async () => {
    expect(await differencesOf(delivered)).toEqual([]);
    const { orders, balances } = await world.audit(1);
    expect(orders).toBe(2);
    const sats = Object.fromEntries(balances.map(({ account, sats: held }) => [account, Number(held)]));
    expect(sats).toMatchObject({ owed: 1500, postage: 1092, service: 4000 });
    expect(Object.values(sats).reduce((sum, held) => sum + held, 0)).toBe(0);
  });

  test('comes with a list of orders that are owed money, and its destinations', async () => {
    const [first, ...others] = await owingOrders(world.database.pool, 10);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id: owed.id, state: 'waiting-refund', owed: 1500, refundAddress: null });
    const { stdout } = await runCli(['orders', 'list', '--owed'], world.database.settings);
    const [head, line, sum] = stdout.split('\n');
    expect(head).toBe(
      'ORDER                                 STATE            OWED (SATS)  CREATED     GOES TO',
    );
    const created = first!.createdAt.toISOString().slice(0, 10);
    expect(line).toBe(`${owed.id}  waiting-refund          1500  ${created}  -`);
    expect(sum).toBe('1 order, 1500 sats');
    const offCurve = 'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3';
    const refund = await runCli(['orders', 'refund', owed.id, '--to', offCurve], world.database.settings);
    expect([refund.exitCode, refund.stderr]).toEqual([2, expect.stringContaining('no one can spend')]);
    expect(await owingOrders(world.database.pool, 10)).toEqual([first]);
  });

  test('agrees with the list of all coins, with the holder of each and the reason', async () => {
    const { settings } = world.database;
    const { stdout } = await runCli(['wallet', 'coins', '--json'], settings);
    const { isComplete, sums, coins } = JSON.parse(stdout) as {
      isComplete: boolean;
      sums: { held: string; coins: number; sats: number }[];
      coins: { output: string; sats: number; held: string; why: string; orderId: string; height: number }[];
    };
    expect(isComplete).toBe(true);
    expect(coins.map(({ held, why, orderId, sats }) => [held, why, orderId, sats])).toEqual([
      ['free', 'revenue', delivered, expect.any(Number)],
      ['reserved', 'payment', owed.id, 1500],
    ]);
    expect(sums).toEqual([
      { held: 'free', coins: 1, sats: coins[0]!.sats },
      { held: 'reserved', coins: 1, sats: 1500 },
    ]);
    const free = await runCli(['wallet', 'coins', '--held', 'free'], settings);
    const [head, line, empty, sum] = free.stdout.split('\n');
    expect(head).toMatch(/^HELD +SATS +HEIGHT +KEY +OUTPUT +WHY$/u);
    expect(line).toMatch(
      new RegExp(`^free +${coins[0]!.sats} +\\d+ +1/\\d+ +${coins[0]!.output} +revenue, order `, 'u'),
    );
    expect([empty, sum]).toEqual(['', expect.stringMatching(/^free +\d+ sats, 1 coin$/u)]);
    const spent = await runCli(['wallet', 'coins', '--held', 'spent'], settings);
    expect(spent.stdout.match(/^spent .* by [0-9a-f]{64}, order /gmu)).toHaveLength(2);
    const wrong = await runCli(['wallet', 'coins', '--held', 'mine'], settings);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('free, reserved, waiting')]);
  });

  test.for(faults)('finds $name', async ({ sql, found }) => {
    const { pool } = world.database;
    const { rows } = await pool.query<{ last: number }>('SELECT max(id) AS last FROM service.ledger_entries');
    if (found.includes('overdrawn')) {
      // databases of earlier versions may have such entries, but this version refuses them
      const refusal = { constraint: 'ledger_entries_overdrawn' };
      await expect(pool.query(sql, [delivered])).rejects.toMatchObject(refusal);
      await pool.query('ALTER TABLE service.ledger_entries DISABLE TRIGGER refuse_overdrawn');
    }
    await pool.query(sql, [delivered]);
    await pool.query('ALTER TABLE service.ledger_entries ENABLE ALWAYS TRIGGER refuse_overdrawn');
    try {
      expect(await kindsOf(delivered)).toEqual(found.toSorted());
    } finally {
      await pool.query(`${reversed} WHERE id > $1`, [rows[0]!.last]);
    }
    expect(await kindsOf(delivered)).toEqual([]);
  });

  test.for([
    ['unlisted', 'DELETE FROM service.wallet_coins WHERE subject = $1 AND txid = $2'],
    ['holder', `UPDATE service.wallet_coins SET held = 'waiting' WHERE subject = $1 AND txid = $2`],
    [
      'holder',
      `UPDATE service.wallet_coins SET held = 'free' WHERE subject = $1 AND txid <> $2 AND why = 'payment'`,
    ],
    [
      'not-there',
      `INSERT INTO service.wallet_coins (txid, vout, value, branch, key_index, kind, subject, held, why)
       SELECT p.txid, p.vout, p.value, 0, 1, 'order', $1, 'reserved', 'payment' FROM service.payments_seen AS p
        WHERE p.txid = decode(repeat('77', 32), 'hex') AND $2::bytea IS NOT NULL`,
    ],
  ] as const)('finds coins whose listing differs from blocks and plans: %s', async ([found, sql]) => {
    const { pool } = world.database;
    const { rows } = await pool.query<{ txid: Buffer }>(
      `SELECT txid FROM service.wallet_coins WHERE subject = $1 AND held = 'free'`,
      [delivered],
    );
    await pool.query('CREATE TABLE kept_coins AS TABLE service.wallet_coins');
    await pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       SELECT decode(repeat('77', 32), 'hex'), 0, '\\x51', 1000, now(), height, hash FROM service.payments_seen
        WHERE height IS NOT NULL LIMIT 1`,
    );
    try {
      await pool.query(sql, [delivered, rows[0]!.txid]);
      expect(await kindsOf(delivered)).toEqual([found]);
    } finally {
      await pool.query(
        `DELETE FROM service.payments_seen WHERE txid = decode(repeat('77', 32), 'hex');
         DELETE FROM service.wallet_coins; INSERT INTO service.wallet_coins TABLE kept_coins; DROP TABLE kept_coins`,
      );
    }
    expect(await kindsOf(delivered)).toEqual([]);
  });

  test('is made repeatedly by one process, and every process knows the last result', async () => {
    const { pool, url } = world.database;
    expect(await readLastAudit(pool)).toBeNull();
    const controller = new AbortController();
    const seen: (number | null)[] = [];
    const keeping = keepAuditing({
      beside: auditPayouts,
      url,
      node: world.bitcoind.rpc,
      signal: controller.signal,
      log: pino({ level: 'silent' }),
      onAudit: (audit) => void seen.push(audit && audit.orders),
      pace: { everyMs: 1, looks: 1 },
    });
    await world.eventually(async () => seen.length > 2);
    controller.abort();
    await keeping;
    // without the lock, this process no longer reports for other processes
    expect(seen.pop()).toBeNull();
    expect(new Set(seen)).toEqual(new Set([2]));
    expect(await readLastAudit(pool)).toMatchObject({ orders: 2 });
  });

  test('finds an inscription that is not at its receiver', async () => {
    const { pool } = world.database;
    const at = `SELECT i.key FROM chain.inscriptions AS i JOIN service.wallet_transactions USING (txid)
                 WHERE order_id = $1 AND i.index = 1`;
    await pool.query(`UPDATE chain.locations SET script = $2 WHERE key = (${at})`, [
      delivered,
      scriptOf(refunded),
    ]);
    expect(await differencesOf(delivered)).toMatchObject([
      { kind: 'delivered', ledger: 2n, chain: 1n, order: { kind: 'direct' } },
    ]);
    await pool.query(`UPDATE chain.locations SET script = $2 WHERE key = (${at})`, [
      delivered,
      scriptOf(700),
    ]);
    expect(await kindsOf(delivered)).toEqual([]);
  });

  test('finds money that a wallet with the same seed spent', async () => {
    const { pool } = world.database;
    const { rows } = await pool.query<{ leaf: Buffer }>(
      'SELECT leaf FROM service.order_leaves WHERE order_id = $1',
      [owed.id],
    );
    const { rows: paid } = await pool.query<{ txid: Buffer; vout: number }>(
      'SELECT txid, vout FROM service.payments_seen WHERE script = $1',
      [Buffer.from(owed.script)],
    );
    const { plan } = takeBackPlan({
      own: { key: { branch: 0, index: owed.keyIndex }, leafScript: rows[0]!.leaf },
      script: owed.script,
      outputs: [{ txid: paid[0]!.txid as never, vout: paid[0]!.vout, value: 1500n }],
      destination: scriptOf(refunded),
      feeRate: 1000n,
    });
    const { bytes } = await world.sign(plan);
    await world.bitcoind.rpc.call('sendrawtransaction', [Buffer.from(bytes).toString('hex')]);
    // an unconfirmed transaction that spends the coin changes nothing yet
    expect(await kindsOf(owed.id)).toEqual([]);
    await world.follow();
    await world.chain.mineMempool();
    await world.indexed();
    expect(await kindsOf(owed.id)).toEqual(['missing']);
    await world.stop();
  });
});

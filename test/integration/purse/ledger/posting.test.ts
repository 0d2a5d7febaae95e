import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertAccount } from '#accounts/account.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { postEntries, readEntries, readHoldings } from '#purse/ledger/ledger.store.ts';
import {
  holdingsOf,
  type LedgerEntry,
  ledgerAccounts,
  postingOf,
  type Subject,
  satsAsset,
} from '#purse/ledger/ledger.ts';
import { serviceFromNothing } from '#test/support/chain/chain-migrations.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const most = 2n ** 128n - 1n;
const txidOf = (byte: number): string => byte.toString(16).padStart(2, '0').repeat(32);

/** An entry between accounts without owners. */
const moved = (
  from: LedgerEntry['from'],
  to: LedgerEntry['to'],
  amount: bigint,
  more: Partial<LedgerEntry> = {},
): LedgerEntry => ({
  from,
  fromOwner: null,
  to,
  toOwner: null,
  asset: satsAsset,
  amount,
  txid: txidOf(1),
  vout: null,
  ...more,
});

let orders = 0;
/** An order with only the required columns of its row. */
async function anOrder(pool: pg.Pool, referral: string | null = null): Promise<Subject & { id: string }> {
  const id = randomUUID();
  const key = orders++;
  await pool.query(
    `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
        terms, expires_at)
     VALUES ($1, 'direct', 'completed', $2, $2, $3, 'an address', 'direct', 1000, '{}', $4, '{}', now())`,
    [id, key, Buffer.alloc(34, key), { referral }],
  );
  return { kind: 'order', id };
}

const accountOf = (name: LedgerEntry['from']): [LedgerEntry['from'], string | null] => [
  name,
  ['referral', 'creator', 'token'].includes(name) ? 'one' : null,
];
const wantedLists: fc.Arbitrary<LedgerEntry[]> = fc
  .array(
    fc.record({
      from: fc.oneof(fc.constant('outside' as const), fc.constantFrom(...ledgerAccounts)),
      to: fc.constantFrom(...ledgerAccounts),
      amount: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.constantFrom(2n ** 63n, most)),
      txid: fc.constantFrom(txidOf(1), txidOf(2)),
      vout: fc.constantFrom(null, 0, 2 ** 32 - 1),
    }),
    { maxLength: 8 },
  )
  .map((all) =>
    all
      .filter(({ from, to }) => from !== to)
      .map(({ from, to, amount, txid, vout }) => {
        const [[, fromOwner], [, toOwner]] = [accountOf(from), accountOf(to)];
        return moved(from, to, amount, { txid, vout, fromOwner, toOwner });
      }),
  );
const held = (entries: readonly LedgerEntry[]): string[] =>
  holdingsOf(entries)
    .filter(({ amount }) => amount !== 0n)
    .map(({ account, owner, asset, amount }) => `${account} ${owner} ${asset} ${amount}`)
    .toSorted();

describe('posting to the ledger', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    // the accounts must exist before they have balances
    for (const name of ['one', 'shop', 'other']) await insertAccount(database.pool, name);
  });
  afterAll(() => database?.drop());

  const post = (subject: Subject, wanted: readonly LedgerEntry[]) =>
    withTransaction(database.pool, (tx) => postEntries(tx, subject, wanted));
  /** Adds entries without the checks of our code, like a fault in our code would. */
  const add = (
    { id }: { id: string | null },
    entries: readonly LedgerEntry[],
    kind = 'order',
    pool: pg.Pool | pg.ClientBase = database.pool,
  ) =>
    pool.query(
      `INSERT INTO service.ledger_entries
         (subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid)
       SELECT $1, $2, e.* FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::numeric[], $9::bytea[]) AS e`,
      [
        kind,
        id,
        entries.map(({ from }) => from),
        entries.map(({ fromOwner }) => fromOwner),
        entries.map(({ to }) => to),
        entries.map(({ toOwner }) => toOwner),
        entries.map(({ asset }) => asset),
        entries.map(({ amount }) => amount),
        entries.map(({ txid }) => Buffer.from(txid, 'hex')),
      ],
    );

  test('never fails, whatever facts follow each other, and ends with the entries of the last ones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wantedLists, { minLength: 1, maxLength: 6 }), async (history) => {
        const subject = await anOrder(database.pool);
        for (const wanted of [...history, ...history.slice(-1)]) {
          const before = await readEntries(database.pool, subject);
          const added = postingOf(wanted, before);
          const outcome = added === 'waits' ? 'waits' : added.length === 0 ? 'unchanged' : 'posted';
          expect(await post(subject, wanted)).toBe(outcome);
          const after = await readEntries(database.pool, subject);
          expect(after.slice(0, before.length)).toEqual(before);
          expect(held(after)).toEqual(held(outcome === 'waits' ? before : wanted));
        }
      }),
      { numRuns: propertyRuns(20) },
    );
    const holdings = await readHoldings(database.pool as unknown as pg.ClientBase);
    expect(holdings.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
  });

  test('is done once by concurrent transactions, which wait for each other', async () => {
    const subject = await anOrder(database.pool);
    const wanted = [moved('outside', 'owed', 900n), moved('owed', 'service', 900n, { txid: txidOf(2) })];
    await Promise.all(Array.from({ length: 4 }, () => post(subject, wanted)));
    expect(await readEntries(database.pool, subject)).toEqual(wanted);
    // one of the two entries is refused, although neither overdraws alone
    const taken = await Promise.allSettled(
      [3, 4].map((byte) => add(subject, [moved('service', 'outside', 600n, { txid: txidOf(byte) })])),
    );
    expect(taken.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('refuses invalid postings, even in SQL of its own', async () => {
    const subject = await anOrder(database.pool);
    await post(subject, [moved('outside', 'owed', 900n)]);
    const refused: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['overdrawn', () => add(subject, [moved('owed', 'outside', 901n)])],
      [
        'overdrawn',
        () =>
          add(subject, [moved('outside', 'service', 1n), moved('referral', 'fee', 1n, { fromOwner: 'one' })]),
      ],
      ['from_owner', () => add(subject, [moved('referral', 'fee', 1n)])],
      ['to_owner', () => add(subject, [moved('outside', 'service', 1n, { toOwner: 'one' })])],
      ['moves', () => add(subject, [moved('owed', 'owed', 1n)])],
      ['amount', () => add(subject, [moved('outside', 'owed', 0n)])],
      ['amount', () => add(subject, [moved('outside', 'owed', most + 1n)])],
      ['subject_asset', () => add(subject, [moved('outside', 'owed', 1n, { asset: 7 })])],
      ['subject_kind', () => add(subject, [moved('outside', 'owed', 1n)], 'wages')],
      ['payout', () => add(subject, [moved('outside', 'owed', 1n)], 'payout')],
      ['overdrawn', () => add(subject, [moved('referral', 'outside', 1n, { fromOwner: 'none' })], 'payout')],
      ['subject_id', () => add({ id: null }, [moved('outside', 'owed', 1n)])],
      ['funds', () => add({ id: null }, [moved('outside', 'owed', 1n)], 'funds')],
      ['order_id', () => add({ id: randomUUID() }, [moved('outside', 'owed', 1n)])],
    ];
    for (const [constraint, adding] of refused)
      await expect(adding()).rejects.toMatchObject({
        constraint: expect.stringMatching(
          new RegExp(`^ledger_entries_${constraint}(_check|_fkey)?$`),
        ) as string,
      });
    expect(await readEntries(database.pool, subject)).toEqual([moved('outside', 'owed', 900n)]);
  });

  test('lets a payout take what orders gave its owner, and no more, whatever else it takes', async () => {
    const order = await anOrder(database.pool);
    const share = moved('owed', 'referral', 300n, { toOwner: 'partner', txid: txidOf(2) });
    await post(order, [moved('outside', 'owed', 300n), share]);
    const paid = (amount: bigint, txid = txidOf(5)) =>
      moved('referral', 'outside', amount, { fromOwner: 'partner', txid });
    const first: Subject = { kind: 'payout', id: randomUUID() };
    const second: Subject = { kind: 'payout', id: randomUUID() };
    await expect(post(first, [paid(301n)])).rejects.toMatchObject({ constraint: 'ledger_entries_overdrawn' });
    // two posts at once: the database judges each together with the other
    const both = await Promise.allSettled([post(first, [paid(200n)]), post(second, [paid(200n)])]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    // a reorganisation takes back the delivery; this is a fact, so it is accepted and leaves a debt
    await post(order, []);
    const posted = both[0]?.status === 'fulfilled' ? first : second;
    await expect(post(second === posted ? first : second, [paid(1n)])).rejects.toMatchObject({
      constraint: 'ledger_entries_overdrawn',
    });
    // reversals are never refused
    await post(posted, []);
    expect(held(await readEntries(database.pool, posted))).toEqual([]);
  });

  test('is final: no row is changed or deleted, not even by the owner of the table', async () => {
    const client = await database.pool.connect();
    try {
      for (const [table, column] of [
        ['ledger_entries', 'txid'],
        ['assets', 'rune'],
      ])
        for (const statement of [
          `UPDATE service.${table} SET ${column} = ${column}`,
          `DELETE FROM service.${table}`,
          `TRUNCATE service.${table} CASCADE`,
        ])
          await expect(client.query(statement)).rejects.toMatchObject({ code: '23001' });
    } finally {
      client.release();
    }
  });

  test('counts each asset separately: sats do not pay for a rune', async () => {
    const { pool } = database;
    const runes = await pool.query<{ id: number }>(
      `INSERT INTO service.assets (etching, rune) VALUES (sha256('one'), $1), (sha256('one'), 0), (sha256('two'), 0) RETURNING id`,
      [most],
    );
    expect(runes.rows.map(({ id }) => id)).toEqual([1, 2, 3]);
    for (const values of [
      `(sha256('two'), 0)`,
      `(sha256('two'), NULL)`,
      `(NULL, 0)`,
      `(sha256('two'), ${most + 1n})`,
    ])
      await expect(
        pool.query(`INSERT INTO service.assets (etching, rune) VALUES ${values}`),
      ).rejects.toMatchObject({
        code: expect.stringMatching(/^23/) as string,
      });
    const subject = { id: randomUUID() };
    const shop = { toOwner: 'shop' };
    await add(
      subject,
      [moved('outside', 'token', 500n, shop), moved('outside', 'token', most, { ...shop, asset: 1 })],
      'token-order',
    );
    const others = [
      moved('token', 'outside', 1n, { fromOwner: 'shop', asset: 2 }),
      moved('token', 'outside', 1n, { fromOwner: 'other', asset: 1 }),
      moved('token', 'outside', 501n, { fromOwner: 'shop' }),
    ];
    for (const entry of others)
      await expect(add(subject, [entry], 'token-order')).rejects.toMatchObject({
        constraint: 'ledger_entries_overdrawn',
      });
    await add(
      subject,
      [moved('token', 'token', most, { fromOwner: 'shop', toOwner: 'other', asset: 1 })],
      'token-order',
    );
    const holdings = await readHoldings(pool as unknown as pg.ClientBase);
    expect(holdings.filter(({ asset, amount }) => asset === 1 && amount !== 0n)).toEqual([
      { account: 'outside', owner: null, asset: 1, amount: -most },
      { account: 'token', owner: 'other', asset: 1, amount: most },
    ]);
  });
});

test('entries of a database of an earlier version get subjects, owners and exact amounts, and posting continues', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  try {
    const migrate = await serviceFromNothing(pool);
    await migrate('0001', '0033');
    const { id } = await anOrder(pool, 'friend');
    await pool.query(
      `INSERT INTO service.ledger_entries (order_id, from_account, to_account, sats, txid, vout) VALUES
         ($1, 'outside', 'owed', 900, sha256('payment'), 3), ($1, 'owed', 'referral', 100, sha256('reveal'), NULL),
         (NULL, 'outside', 'operator', 5000, sha256('fund'), 0), ($1, 'owed', 'service', 800, sha256('reveal'), NULL)`,
      [id],
    );
    await migrate('0033');
    const subject: Subject = { kind: 'order', id };
    const entries = await readEntries(pool, subject);
    expect(entries.map(({ from, to, toOwner, amount, vout }) => [from, to, toOwner, amount, vout])).toEqual([
      ['outside', 'owed', null, 900n, 3],
      ['owed', 'referral', 'friend', 100n, null],
      ['owed', 'service', null, 800n, null],
    ]);
    expect(await readEntries(pool, { kind: 'funds' })).toHaveLength(1);
    const { rows } = await pool.query('SELECT id, order_id, asset FROM service.ledger_entries ORDER BY id');
    expect(rows).toEqual(
      [1, 2, 3, 4].map((number) => ({ id: number, order_id: number === 3 ? null : id, asset: 0 })),
    );
    // a reorganisation takes back the delivery
    const payment = entries.slice(0, 1);
    expect(await withTransaction(pool, (tx) => postEntries(tx, subject, payment))).toBe('posted');
    expect(held(await readEntries(pool, subject))).toEqual(held(payment));
  } finally {
    await database.drop();
  }
});

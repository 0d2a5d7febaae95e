import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import {
  type Holding,
  type LedgerAccount,
  type LedgerEntry,
  postingOf,
  type Subject,
  satsAsset,
} from './ledger.ts';

interface EntryRow {
  subject_id: string | null;
  from_account: LedgerAccount;
  from_owner: string | null;
  to_account: LedgerAccount;
  to_owner: string | null;
  asset: number;
  amount: string;
  txid: string;
  vout: number | null;
}

const entryColumns = `subject_id, from_account, from_owner, to_account, to_owner, asset, amount::text AS amount,
  encode(txid, 'hex') AS txid, vout`;

const entryOf = ({
  from_account: from,
  from_owner: fromOwner,
  to_account: to,
  to_owner: toOwner,
  asset,
  amount,
  txid,
  vout,
}: EntryRow): LedgerEntry => ({ from, fromOwner, to, toOwner, asset, amount: BigInt(amount), txid, vout });

/** The entries of a subject, in the order of posting. */
export async function readEntries(client: pg.Pool | pg.ClientBase, subject: Subject): Promise<LedgerEntry[]> {
  const id = idOf(subject);
  const { rows } = await client.query<EntryRow>(
    `SELECT ${entryColumns} FROM service.ledger_entries
      WHERE subject_kind = $1 AND subject_id ${id === null ? 'IS NULL' : '= $2'} ORDER BY id`,
    id === null ? [subject.kind] : [subject.kind, id],
  );
  return rows.map(entryOf);
}

/**
 * Adds entries and reversals to the ledger, so that a subject has exactly the entries that its facts require. No other
 * code adds entries for a single subject. A second call has no effect, even at the same time. `waits`: the facts
 * disagree for a moment, so nothing is posted, and the caller must try again.
 */
export async function postEntries(
  tx: pg.ClientBase,
  subject: Subject,
  wanted: readonly LedgerEntry[],
): Promise<'unchanged' | 'posted' | 'waits'> {
  const seen = postingOf(wanted, await readEntries(tx, subject), subject.kind);
  if (seen === 'waits') return 'waits';
  if (seen.length === 0) return 'unchanged';
  // another transaction may be posting the same entries, so the entries are read after it has ended
  await tx.query(`SELECT pg_advisory_xact_lock($1, hashtext(concat($2::text, ' ', $3::text)) & 1023)`, [
    advisoryLocks.ledger,
    subject.kind,
    // all payouts use one lock, because they share accounts
    subject.kind === 'payout' ? null : idOf(subject),
  ]);
  const missing = postingOf(wanted, await readEntries(tx, subject), subject.kind);
  if (missing === 'waits') return 'waits';
  await addEntries(
    tx,
    subject.kind,
    missing.map((entry) => ({ id: idOf(subject), entry })),
  );
  return 'posted';
}

/**
 * Posts entries for many subjects of one kind with only three statements, because a block may pay a thousand subjects.
 * All entries come from one table, which is consistent at any moment. So if the facts disagree, the program has a
 * fault.
 */
export async function postAllEntries(
  tx: pg.ClientBase,
  kind: Exclude<Subject['kind'], 'funds' | 'payout' | 'withdrawal'>,
  wanted: ReadonlyMap<string, readonly LedgerEntry[]>,
): Promise<void> {
  const ids = [...wanted.keys()];
  if (ids.length === 0) return;
  await tx.query(
    `SELECT pg_advisory_xact_lock($1, bucket)
       FROM (SELECT DISTINCT hashtext(concat($2::text, ' ', id)) & 1023 AS bucket
               FROM unnest($3::uuid[]) AS given (id) ORDER BY 1) AS locks`,
    [advisoryLocks.ledger, kind, ids],
  );
  const { rows } = await tx.query<EntryRow>(
    `SELECT ${entryColumns} FROM service.ledger_entries
      WHERE subject_kind = $1 AND subject_id = ANY($2::uuid[]) ORDER BY id`,
    [kind, ids],
  );
  const posted = Map.groupBy(rows, ({ subject_id: id }) => id);
  const missing = [...wanted].flatMap(([id, entries]) => {
    const found = postingOf(entries, (posted.get(id) ?? []).map(entryOf), kind);
    assert(found !== 'waits', `the facts of the ${kind} ${id} overdraw an account`);
    return found.map((entry) => ({ id, entry }));
  });
  await addEntries(tx, kind, missing);
}

async function addEntries(
  tx: pg.ClientBase,
  kind: Subject['kind'],
  added: readonly { readonly id: string | null; readonly entry: LedgerEntry }[],
): Promise<void> {
  if (added.length === 0) return;
  const entries = added.map(({ entry }) => entry);
  await tx.query(
    `INSERT INTO service.ledger_entries
       (subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid, vout)
     SELECT $1, e.id, e.from_account, e.from_owner, e.to_account, e.to_owner, e.asset, e.amount, decode(e.txid, 'hex'), e.vout
       FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::numeric[], $9::text[],
                   $10::bigint[])
            AS e (id, from_account, from_owner, to_account, to_owner, asset, amount, txid, vout)`,
    [
      kind,
      added.map(({ id }) => id),
      entries.map(({ from }) => from),
      entries.map(({ fromOwner }) => fromOwner),
      entries.map(({ to }) => to),
      entries.map(({ toOwner }) => toOwner),
      entries.map(({ asset }) => asset),
      entries.map(({ amount }) => amount),
      entries.map(({ txid }) => txid),
      entries.map(({ vout }) => vout),
    ],
  );
}

/**
 * Sats that were booked as revenue since a time, less reversals. Sats that the operator took out are not deducted,
 * because they are part of the revenue.
 */
export async function revenueSince(client: pg.Pool | pg.ClientBase, since: Date): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(CASE WHEN to_account = 'service' THEN amount ELSE -amount END), 0)::text AS sats
       FROM service.ledger_entries
      WHERE at > $1 AND 'service' IN (from_account, to_account) AND asset = ${satsAsset}
        AND subject_kind <> 'payout'`,
    [since],
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/**
 * Sats that an account received through a transaction of an order, less the sats that the same transaction moved out of
 * the account.
 */
export interface LedgerSum {
  readonly id: string;
  readonly txid: Buffer;
  /** Whether the transaction is a payment that the service received. Otherwise it is a transaction of the service. */
  readonly isReceipt: boolean;
  readonly account: LedgerAccount;
  readonly sats: bigint;
}

/** The sums of these orders. Sums of zero are omitted. */
export async function readSums(client: pg.ClientBase, ids: readonly string[]): Promise<LedgerSum[]> {
  const { rows } = await client.query<{
    id: string;
    txid: Buffer;
    is_receipt: boolean;
    account: LedgerAccount;
    sats: string;
  }>(
    `SELECT subject_id AS id, txid, vout IS NOT NULL AS is_receipt, account, sum(sats)::text AS sats
       FROM (SELECT * FROM service.ledger_entries
              WHERE subject_kind = 'order' AND subject_id = ANY($1::uuid[]) AND asset = ${satsAsset}) AS e,
            ${bothSides('e', 'sats')}
      GROUP BY subject_id, txid, vout IS NOT NULL, account HAVING sum(sats) <> 0`,
    [ids],
  );
  return rows.map(({ is_receipt: isReceipt, sats, ...row }) => ({ ...row, isReceipt, sats: BigInt(sats) }));
}

/** The holdings of all accounts, by owner and asset. */
export async function readHoldings(client: pg.ClientBase): Promise<Holding[]> {
  const { rows } = await client.query<Omit<Holding, 'amount'> & { amount: string }>(
    `SELECT account, owner, asset, sum(moved)::text AS amount
       FROM service.ledger_entries AS e, ${bothSides('e', 'moved')}
      GROUP BY account, owner, asset ORDER BY account, owner, asset`,
  );
  return rows.map(({ amount, ...row }) => ({ ...row, amount: BigInt(amount) }));
}

/**
 * Sats that partners hold, over all subjects. This is the debt of the service to partners. An account in debt is
 * treated as zero. Accounts of shops are not included, because they have their own coins. Uses two indexes on owners;
 * the query takes 50 ms for 200,000 entries.
 */
export async function heldByOwners(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT coalesce(sum(greatest(sats, 0)), 0)::text AS sats
       FROM (SELECT sum(moved.amount) AS sats
               FROM (SELECT to_account AS account, to_owner AS owner, amount FROM service.ledger_entries
                      WHERE to_owner IS NOT NULL AND to_account <> 'token' AND asset = ${satsAsset}
                     UNION ALL
                     SELECT from_account, from_owner, -amount FROM service.ledger_entries
                      WHERE from_owner IS NOT NULL AND from_account <> 'token' AND asset = ${satsAsset}) AS moved
              GROUP BY account, owner) AS held`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** Sats that an owner's account holds, over all subjects. The result is negative if the account is in debt. */
export async function heldByOwner(
  client: pg.Pool | pg.ClientBase,
  account: LedgerAccount,
  owner: string,
): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `SELECT (coalesce((SELECT sum(amount) FROM service.ledger_entries
                        WHERE to_owner = $2 AND to_account = $1 AND asset = ${satsAsset}), 0)
           - coalesce((SELECT sum(amount) FROM service.ledger_entries
                        WHERE from_owner = $2 AND from_account = $1 AND asset = ${satsAsset}), 0))::text AS sats`,
    [account, owner],
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/**
 * Sats of the service and the operator, over all subjects. Reads the entire ledger, which takes half a second for
 * 100,000 orders.
 */
export async function heldByService(
  client: pg.Pool | pg.ClientBase,
): Promise<{ readonly service: bigint; readonly operator: bigint }> {
  const { rows } = await client.query<{ service: string; operator: string }>(
    `SELECT coalesce(sum(CASE WHEN to_account = 'service' THEN amount ELSE 0 END
                       - CASE WHEN from_account = 'service' THEN amount ELSE 0 END), 0)::text AS service,
            coalesce(sum(CASE WHEN to_account = 'operator' THEN amount ELSE 0 END
                       - CASE WHEN from_account = 'operator' THEN amount ELSE 0 END), 0)::text AS operator
       FROM service.ledger_entries WHERE asset = ${satsAsset}`,
  );
  const [row] = rows;
  return { service: BigInt(row?.service ?? 0), operator: BigInt(row?.operator ?? 0) };
}

/** SQL: both accounts of an entry, each with its amount. The amount is negative for the account that pays. */
const bothSides = (entry: string, amount: string): string =>
  `LATERAL (VALUES (${entry}.to_account, ${entry}.to_owner, ${entry}.amount),
                   (${entry}.from_account, ${entry}.from_owner, -${entry}.amount)) AS side (account, owner, ${amount})`;

const idOf = (subject: Subject): string | null => (subject.kind === 'funds' ? null : subject.id);

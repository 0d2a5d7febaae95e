import type pg from 'pg';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { readTokenFees } from '#tokenpay/audit/held-outputs.queries.ts';
import { runeParts } from '#tokenpay/audit/rune-parts.queries.ts';
import { areAtOneBlock } from '#tokenpay/audit/token-faults.queries.ts';
import { bitcoin } from './order-model.ts';
import type { Units } from './rune-model.ts';
import {
  balanceKey,
  type SeenCredit,
  type SeenParts,
  type SeenWithdrawal,
  type TokenLook,
} from './tokens-verdict.ts';

/** The result of a check, and the last block of the index in display order. */
export interface TakenLook {
  readonly block: string;
  readonly look: TokenLook;
}

const textOf = (bytes: Uint8Array): string => displayHash(bytes);

/**
 * Reads all money of shops in the snapshot of a transaction. `null` if the index does not know the runes of its blocks
 * yet.
 */
export async function takeLook(tx: pg.ClientBase): Promise<TakenLook | null> {
  const { rows } = await tx.query<{ hash: Buffer | null }>('SELECT tip_hash AS hash FROM chain.state');
  const tip = rows[0]?.hash ?? null;
  if (tip === null || (await runeStanding(tx)).state !== 'known') return null;
  const look: TokenLook = {
    isAtOneBlock: await areAtOneBlock(tx),
    balances: await readBalances(tx),
    reserved: await readReserved(tx),
    withdrawals: await readSeenWithdrawals(tx),
    minerFees: await readMinerFees(tx),
    fees: await readTokenFees(tx),
    credits: await readSeenCredits(tx),
    parts: await readParts(tx),
    supply: await unitsOf(
      tx,
      'SELECT rune_key, sum(amount) AS amount FROM chain.rune_balances WHERE spent_height IS NULL GROUP BY rune_key',
    ),
    burned: await unitsOf(
      tx,
      'SELECT rune_key, sum(amount) AS amount FROM chain.rune_burns GROUP BY rune_key',
    ),
    states: await readStates(tx),
  };
  return { block: textOf(tip), look };
}

/** Amounts of balances by account and token. */
export const readBalances = (tx: pg.ClientBase | pg.Pool): Promise<Map<string, bigint>> =>
  byBalance(
    tx,
    `SELECT b.account, b.asset, a.etching, b.amount::text FROM service.token_balances AS b
       JOIN service.assets AS a ON a.id = b.asset`,
  );

/** Reserved units of balances by account and token. */
export const readReserved = (tx: pg.ClientBase | pg.Pool): Promise<Map<string, bigint>> =>
  byBalance(
    tx,
    `SELECT b.account, b.asset, a.etching, b.reserved::text AS amount FROM service.token_balances AS b
       JOIN service.assets AS a ON a.id = b.asset WHERE b.reserved <> 0`,
  );

async function byBalance(tx: pg.ClientBase | pg.Pool, query: string): Promise<Map<string, bigint>> {
  const { rows } = await tx.query<{ account: string; asset: number; etching: Buffer; amount: string }>(query);
  return new Map(
    rows.map(({ account, asset, etching, amount }) => [
      balanceKey(account, asset === 0 ? bitcoin : textOf(etching)),
      BigInt(amount),
    ]),
  );
}

async function readSeenCredits(tx: pg.ClientBase): Promise<SeenCredit[]> {
  const { rows } = await tx.query<{
    txid: Buffer;
    vout: number;
    order: string;
    account: string;
    sats: string;
    aside: string | null;
    is_stale: boolean;
    runes: readonly { readonly etching: string; readonly amount: string }[];
  }>(
    `SELECT c.txid, c.vout, c.order_id AS order, o.account, c.sats::text, c.aside, p.hash IS DISTINCT FROM c.hash AS is_stale,
            coalesce((SELECT jsonb_agg(jsonb_build_object('etching', encode(a.etching, 'hex'), 'amount', r.amount::text))
                        FROM service.token_credit_runes AS r JOIN service.assets AS a ON a.id = r.asset
                       WHERE r.txid = c.txid AND r.vout = c.vout), '[]') AS runes
       FROM service.token_credits AS c JOIN service.token_orders AS o ON o.id = c.order_id
       LEFT JOIN service.payments_seen AS p ON p.txid = c.txid AND p.vout = c.vout`,
  );
  return rows.map(({ txid, vout, order, account, sats, aside, is_stale: isStale, runes }) => ({
    outpoint: `${textOf(txid)}:${vout}`,
    order,
    account,
    sats: BigInt(sats),
    runes: new Map(runes.map(({ etching, amount }) => [textOf(Buffer.from(etching, 'hex')), BigInt(amount)])),
    isAside: aside !== null,
    isStale,
  }));
}

/** Sums of units by rune, computed by the function of the service's audit. */
async function readParts(tx: pg.ClientBase): Promise<Map<string, SeenParts>> {
  const parts = await runeParts(tx);
  return new Map(
    parts.map(({ etching, liabilities, debts, aside, waiting, held }) => [
      textOf(etching),
      { owed: liabilities - debts, aside, waiting, held },
    ]),
  );
}

async function readSeenWithdrawals(tx: pg.ClientBase): Promise<SeenWithdrawal[]> {
  const { rows } = await tx.query<{
    id: string;
    account: string;
    asset: number;
    etching: Buffer;
    amount: string;
    fee: string;
    postage: string;
    payer: string;
    state: string;
    txids: readonly string[];
  }>(
    `SELECT w.id, w.account, w.asset, a.etching, w.amount::text, w.fee::text, w.postage::text, w.payer, w.state,
            ARRAY(SELECT encode(t.txid, 'hex') FROM service.wallet_transactions AS t WHERE t.payout_id = w.payout) AS txids
       FROM service.withdrawals AS w JOIN service.assets AS a ON a.id = w.asset`,
  );
  return rows.map(({ id, account, asset, etching, amount, fee, postage, payer, state, txids }) => ({
    id,
    account,
    token: asset === 0 ? bitcoin : textOf(etching),
    amount: BigInt(amount),
    fee: BigInt(fee),
    postage: BigInt(postage),
    payer,
    state,
    txids: txids.map((txid) => textOf(Buffer.from(txid, 'hex'))),
  }));
}

async function readMinerFees(tx: pg.ClientBase): Promise<bigint> {
  const { rows } = await tx.query<{ sats: string }>(
    `SELECT (coalesce(sum(amount) FILTER (WHERE to_account = 'fee'), 0)
           - coalesce(sum(amount) FILTER (WHERE from_account = 'fee'), 0))::text AS sats
       FROM service.ledger_entries WHERE subject_kind = 'withdrawal'`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** @param sums a query of amounts by the keys of runes */
async function unitsOf(tx: pg.ClientBase, sums: string): Promise<Units> {
  const { rows } = await tx.query<{ etching: Buffer; amount: string }>(
    `SELECT r.txid AS etching, s.amount::text AS amount FROM (${sums}) AS s JOIN chain.runes AS r ON r.key = s.rune_key`,
  );
  return new Map(rows.map(({ etching, amount }) => [textOf(etching), BigInt(amount)]));
}

async function readStates(tx: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ id: string; state: string }>(
    'SELECT id, state FROM service.token_orders',
  );
  return new Map(rows.map(({ id, state }) => [id, state]));
}

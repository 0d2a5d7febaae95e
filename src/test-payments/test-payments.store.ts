import type pg from 'pg';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { type BlockHashHex, displayHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { formatRuneId, parseRuneId } from '#kernel/runes/rune-id.ts';
import { u128OfText } from '#kernel/runes/u128.ts';
import type { TestCoin } from './plan-test-payment.ts';

/** A test payment that was sent. */
export interface SentTest {
  readonly txid: Txid;
  readonly orderId: string;
  readonly account: string;
  readonly madeAt: Date;
  /** Sats that left the wallet, including the fee. */
  readonly sats: bigint;
  readonly fee: bigint;
  readonly spent: readonly TestCoin[];
  readonly returned: readonly TestCoin[];
}

/**
 * Maximum number of recent payments, whose outputs may still be unconfirmed. A mempool holds fewer payments of one
 * wallet.
 */
const recentMax = 200;

/**
 * Makes other payments wait until the transaction ends. Two payments at the same time would spend the same coins, and
 * the same budget.
 */
export async function lockTestPayments(tx: pg.ClientBase): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.testPayments]);
}

/** Sats that left the wallet since a time because of payments of an account. */
export async function satsTaken(tx: pg.ClientBase, account: string, since: Date): Promise<bigint> {
  const { rows } = await tx.query<{ sats: string }>(
    'SELECT coalesce(sum(sats), 0)::text AS sats FROM service.test_payments WHERE account = $1 AND made_at > $2',
    [account, since],
  );
  return BigInt(rows[0]?.sats ?? 0);
}

export async function addTestPayment(tx: pg.ClientBase, payment: SentTest): Promise<void> {
  const { txid, orderId, account, madeAt, sats, fee, spent, returned } = payment;
  await tx.query(
    `INSERT INTO service.test_payments (txid, order_id, account, made_at, sats, fee, spent, returned)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [Buffer.from(txid), orderId, account, madeAt, sats, fee, storedCoins(spent), storedCoins(returned)],
  );
}

/** Unspent outputs of recent payments that belong to the wallet, in blocks or not. */
export async function recentCoins(tx: pg.ClientBase): Promise<TestCoin[]> {
  const { rows } = await tx.query<{ returned: readonly StoredCoin[] }>(
    'SELECT returned FROM service.test_payments ORDER BY made_at DESC LIMIT $1',
    [recentMax],
  );
  return rows.flatMap(({ returned }) => returned.map(coinOf));
}

/** The last test payment of an order, or null if there was none. */
export async function lastTestPayment(
  tx: pg.ClientBase,
  orderId: string,
): Promise<Pick<SentTest, 'txid' | 'fee' | 'spent'> | null> {
  const { rows } = await tx.query<{ txid: Txid; fee: string; spent: readonly StoredCoin[] }>(
    'SELECT txid, fee::text, spent FROM service.test_payments WHERE order_id = $1 ORDER BY made_at DESC LIMIT 1',
    [orderId],
  );
  const [row] = rows;
  return row === undefined ? null : { txid: row.txid, fee: BigInt(row.fee), spent: row.spent.map(coinOf) };
}

interface StoredCoin {
  readonly txid: string;
  readonly vout: number;
  readonly value: string;
  readonly block: BlockHashHex | null;
  readonly runes: readonly { readonly id: string; readonly amount: string }[];
}

const storedCoins = (coins: readonly TestCoin[]): string =>
  JSON.stringify(
    coins.map(
      ({ txid, vout, value, blockHash, runes }): StoredCoin => ({
        txid: displayHash(txid),
        vout,
        value: String(value),
        block: blockHash,
        runes: runes.map(({ id, amount }) => ({ id: formatRuneId(id), amount: String(amount) })),
      }),
    ),
  );

function coinOf({ txid: shown, vout, value, block, runes }: StoredCoin): TestCoin {
  const txid = parseTxid(shown);
  if (txid === null) throw new Error('a stored coin has a txid');
  return {
    txid,
    vout,
    value: BigInt(value),
    blockHash: block,
    runes: runes.map(({ id: text, amount }) => {
      const id = parseRuneId(text);
      if (id === null) throw new Error('a stored rune has an id');
      return { id, amount: u128OfText(amount) };
    }),
  };
}

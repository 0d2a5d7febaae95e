import type pg from 'pg';
import { deliveringStates, type OrderState } from '#orders/order/order-machine.ts';
import { isReferralCode, type ReferralRequest } from './read-referral.ts';

/** The address of a referral, and the number of orders that it brought. */
export interface ReferralStatus {
  /** Address to which the referral's share is paid. */
  readonly address: string;
  /** Number of paid orders, delivered or not. */
  readonly orders: number;
  /** Number of delivered orders, each of which pays the share. */
  readonly paid: number;
}

/** Registers a code with its address. Returns false if the code already has another address, which is not changed. */
export async function putReferral(
  client: pg.Pool | pg.ClientBase,
  { code, address, script }: ReferralRequest,
): Promise<boolean> {
  const bytes = Buffer.from(script);
  await client.query(
    'INSERT INTO service.referrals (code, address, script) VALUES ($1, $2, $3) ON CONFLICT (code) DO NOTHING',
    [code, address, bytes],
  );
  const { rowCount } = await client.query('SELECT FROM service.referrals WHERE code = $1 AND script = $2', [
    code,
    bytes,
  ]);
  return rowCount === 1;
}

export async function isReferral(client: pg.Pool | pg.ClientBase, code: string): Promise<boolean> {
  if (!isReferralCode(code)) return false;
  const { rowCount } = await client.query('SELECT FROM service.referrals WHERE code = $1', [code]);
  return rowCount === 1;
}

/** States of paid orders. Unpaid orders are not counted, because anyone can create them for nothing. */
const paidStates = [
  'prep',
  ...deliveringStates,
  'error',
  'completed',
] as const satisfies readonly OrderState[];

/** Reads a referral. Returns null if the code does not exist, or if the code has another address. */
export async function readReferral(
  client: pg.Pool | pg.ClientBase,
  { code, script }: Pick<ReferralRequest, 'code' | 'script'>,
): Promise<ReferralStatus | null> {
  const { rows } = await client.query<ReferralStatus>(
    `SELECT address, orders, paid
       FROM service.referrals,
            (SELECT count(*) AS orders, count(*) FILTER (WHERE state = 'completed') AS paid
               FROM service.orders WHERE referral = $1 AND state = ANY($3)) AS counted
      WHERE code = $1 AND script = $2`,
    [code, Buffer.from(script), paidStates],
  );
  return rows[0] ?? null;
}

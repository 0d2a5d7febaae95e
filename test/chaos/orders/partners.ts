import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { askPartnerPayouts } from '#payouts/asking/ask-payouts.ts';
import { askRevenue } from '#payouts/asking/ask-revenue.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import type { ChainMoney } from '#test/support/orders/money-on-chain.ts';
import type { OrderOfTest } from '#test/support/orders/order-verdict.ts';
import { creator } from './item-sale.ts';
import type { Shop } from './shop.ts';

interface Partner {
  readonly code: string;
  readonly owner: number;
}

/**
 * Number of confirmations before a payout. It is more than the depth of any reorganisation of a run, so no partner is
 * in debt at the end.
 */
export const payoutConfirmations = 13;
const firstOwner = 19_900;
/** Partners of a run. Two of them share one address. */
const partners: readonly Partner[] = [
  { code: 'first', owner: firstOwner },
  { code: 'second', owner: firstOwner + 1 },
  { code: 'third', owner: firstOwner + 1 },
];
export const codes = partners.map(({ code }) => code);
/** The owner who receives the revenue that is taken out. */
const operator = firstOwner + 2;

const scriptHex = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

export async function registerPartners(shop: Shop): Promise<void> {
  for (const { code, owner } of partners)
    await shop.ask('/referrals', { referral: code, address: addressOf(owner) });
}

/** Requests payouts twice at the same moment: of everything that is owed to partners, and perhaps of revenue. */
export async function askForPayouts(pool: pg.Pool, isRevenueAsked: boolean): Promise<void> {
  const asked = { partner: null, confirmations: payoutConfirmations, isDryRun: false };
  const revenue = {
    proveFree: proveFree(pool),
    confirmations: payoutConfirmations,
    script: scriptOf(operator),
    address: addressOf(operator),
    sats: null,
  };
  const asking = [
    askPartnerPayouts(pool, asked),
    askPartnerPayouts(pool, asked),
    ...(isRevenueAsked ? [askRevenue(pool, revenue)] : []),
  ];
  for (const end of await Promise.allSettled(asking)) {
    // ignore a database that is down, because its error is not an AppError, and nothing is stored then
    if (end.status === 'rejected' && end.reason instanceof AppError && !refusals.has(end.reason.code))
      throw end.reason;
  }
}

const refusals: ReadonlySet<string> = new Set(['payouts_nothing', 'payouts_above_free']);

type DeliveredOrder = Pick<OrderOfTest, 'id'>;

interface PaidOut {
  readonly id: string;
  readonly state: string;
  readonly owner: string | null;
  readonly script: string;
  readonly sats: number;
  /** Transactions of the payout. Only one of them is mined. */
  readonly txids: readonly string[];
}

/** Payouts that differ from the chain. Each output must belong to exactly one payout, and to delivered shares. */
export async function payoutFaults(
  pool: pg.Pool,
  money: ChainMoney,
  delivered: readonly DeliveredOrder[],
): Promise<string[]> {
  const { rows } = await pool.query<PaidOut>(
    `SELECT p.id, p.state, s.owner, encode(s.script, 'hex') AS script, s.sats::int AS sats,
            ARRAY(SELECT encode(t.txid, 'hex') FROM service.wallet_transactions AS t WHERE t.payout_id = p.id) AS txids
       FROM service.payouts AS p JOIN service.payout_shares AS s ON s.payout = p.id WHERE p.state <> 'cancelled'`,
  );
  const faults = rows
    .filter(({ state }) => state !== 'mined' && state !== 'settled')
    .map(({ id, state }) => `the payout ${id} is still ${state}`);
  for (const owner of new Set([...partners.map((partner) => partner.owner), operator, creator])) {
    const script = scriptHex(owner);
    const outputs = money.paidTo(script);
    const expected = new Map<string, number>();
    for (const { id, sats } of rows.filter((row) => row.script === script))
      expected.set(id, (expected.get(id) ?? 0) + sats);
    const paid = outputs.map(({ outpoint, value }) => `${payoutOf(rows, outpoint)} ${value}`);
    const owed = [...expected].map(([id, sats]) => `${id} ${sats}`);
    if (paid.toSorted().join() !== owed.toSorted().join())
      faults.push(`payouts of ${owed.join(', ')} are on the chain as ${paid.join(', ')}`);
  }
  for (const { code } of partners) {
    const paid = rows.filter(({ owner }) => owner === code).reduce((sum, { sats }) => sum + sats, 0);
    const earned = await earnedBy(pool, code, delivered);
    if (paid > earned) faults.push(`the partner ${code} is paid ${paid} sats, and earned ${earned}`);
  }
  const paid = rows
    .filter(({ owner }) => owner === addressOf(creator))
    .reduce((sum, { sats }) => sum + sats, 0);
  const earned = await earnedByCreator(pool, delivered);
  if (paid > earned) faults.push(`the creator is paid ${paid} sats, and earned ${earned}`);
  return faults;
}

/** Prices of items that the chain has delivered, as quoted. */
async function earnedByCreator(pool: pg.Pool, delivered: readonly DeliveredOrder[]): Promise<number> {
  const { rows } = await pool.query<{ sats: number }>(
    `SELECT coalesce(sum((quote #>> '{creator,price}')::int * (request ->> 'count')::int), 0)::int AS sats
       FROM service.orders WHERE id = ANY($1::uuid[])`,
    [delivered.map(({ id }) => id)],
  );
  return rows[0]!.sats;
}

function payoutOf(rows: readonly PaidOut[], outpoint: string): string {
  const internal = Buffer.from(outpoint.split(':')[0]!, 'hex').reverse().toString('hex');
  return rows.find(({ txids }) => txids.includes(internal))?.id ?? 'nothing';
}

/** Shares of a partner in orders that the chain has delivered, as quoted. */
async function earnedBy(pool: pg.Pool, code: string, delivered: readonly DeliveredOrder[]): Promise<number> {
  const { rows } = await pool.query<{ sats: number }>(
    `SELECT coalesce(sum((quote ->> 'additionalFeeCharged')::int + coalesce((quote ->> 'referralFee')::int, 0)), 0)::int AS sats
       FROM service.orders WHERE request ->> 'referral' = $1 AND id = ANY($2::uuid[])`,
    [code, delivered.map(({ id }) => id)],
  );
  return rows[0]!.sats;
}

import { createPublicKey, verify } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { firstsOf, sequenceOf, toldMessages } from '#test/chaos/checks/told-messages.ts';
import type { Shop } from '#test/chaos/orders/shop.ts';
import type { ShopOrder } from '#test/support/tokenpay/shop-world.ts';
import type { Received, Receiver } from '#test/support/webhooks/receiver.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { type BuyersEnd, endsOfBuyers, settleBuyers } from './buyers-end.ts';
import { endOfOrder, type ModelOrder, type OrderEnd, type PaidOutput } from './order-model.ts';
import type { PassDay, RuneBuyers } from './rune-buyers.ts';
import type { RuneChain } from './rune-chain.ts';
import { addUnits } from './rune-model.ts';
import { type ShownOrder, shownEnd } from './shown-end.ts';
import type { TokenCustomer, TokenCustomers } from './token-customers.ts';
import { readBalances, readReserved } from './token-look.queries.ts';
import type { TokenPayments } from './token-payments.ts';
import type { TokenTakers } from './token-takers.ts';
import type { TokenWatch } from './token-watch.ts';
import { balanceFaults, balanceKey, endFaults, toldFaults } from './tokens-verdict.ts';
import { coverWithdrawals, endsOfWithdrawals } from './withdrawals-end.ts';

export interface EndedTokenRun {
  readonly pool: pg.Pool;
  readonly chain: RegtestChain;
  readonly shop: Shop;
  readonly customers: TokenCustomers;
  readonly payments: TokenPayments;
  readonly takers: TokenTakers;
  readonly buyers: RuneBuyers;
  readonly passDay: PassDay;
  readonly model: RuneChain;
  readonly watch: TokenWatch;
  readonly receiver: Receiver;
  readonly say: (words: string) => void;
}

export interface TokenRunEnd {
  /** Number of orders by state. */
  readonly states: Readonly<Record<string, number>>;
  /** Number of outputs of the final chain that were credited or set aside. */
  readonly received: number;
  /** Number of withdrawals by state. */
  readonly withdrawals: Readonly<Record<string, number>>;
  readonly messages: number;
  /** Results of orders of items that are sold for runes. */
  readonly sales: Omit<BuyersEnd, 'faults' | 'gains'>;
  readonly differences: readonly string[];
}

const settledWithinMs = 240_000;
const lookMs = 500;
const looksAtEnd = 3;
/** Number of blocks at the end. It is more than the confirmations of any order of a run. */
const blocksAtEnd = 4;

/** Waits until everything is deep enough in blocks, and compares the service with the model. */
export async function verdictOfTokenRun(run: EndedTokenRun): Promise<TokenRunEnd> {
  const { pool, chain, customers, watch, say, buyers } = run;
  const bought = { ...run, runes: run.payments.runes };
  const open = await settle(run);
  say('all payments are in blocks');
  open.push(...(await settleBuyers(bought)));
  say('all sales are over');
  open.push(...(await coverWithdrawals(run, () => settle(run))));
  say('all withdrawals have ended');
  for (let look = 0; look < looksAtEnd; look++) await watch.look();
  const ends = await modelledEnds(run);
  const messages = await toldOf(run, ends);
  const differences = [...open, ...messages.faults];
  const gains = new Map<string, bigint>();
  for (const { customer, wanted, is } of ends) {
    differences.push(...endFaults(customer.id, is, wanted));
    for (const [token, amount] of wanted.gain) addUnits(gains, balanceKey(customer.account, token), amount);
  }
  const { faults, gains: ofCreators, ...sales } = await endsOfBuyers(bought);
  differences.push(...faults);
  for (const [key, amount] of ofCreators) addUnits(gains, key, amount);
  const taken = await endsOfWithdrawals(run);
  differences.push(...taken.faults);
  for (const [key, amount] of taken.taken) addUnits(gains, key, -amount);
  differences.push(...balanceFaults(await readBalances(pool), gains));
  for (const [key, units] of await readReserved(pool))
    differences.push(`the balance ${key} reserves ${units} at the end`);
  for (const { kind, where, noted, found } of await auditTokens({ database: pool }))
    differences.push(`audit: ${kind} ${where}: ${noted} and ${found}`);
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM service.token_orders',
  );
  const made = customers.all.length + buyers.all.length;
  if (rows[0]?.count !== made)
    differences.push(`${made} token orders were made, and ${rows[0]?.count} are stored`);
  const states = Object.fromEntries(
    [...Map.groupBy(ends, ({ is }) => is.state)].map(([state, of]) => [state, of.length]),
  );
  say(`compared ${ends.length} orders and ${buyers.all.length} sales at block ${await chain.height()}`);
  return {
    states,
    withdrawals: taken.states,
    received: ends.reduce((sum, { wanted }) => sum + wanted.received.length, 0),
    messages: messages.count,
    sales,
    differences,
  };
}

/** Mines until nothing waits. Anything that still waits is a difference. */
async function settle({ pool, chain, payments }: EndedTokenRun): Promise<string[]> {
  await payments.sendAgain(() => true);
  do await chain.mineMempool();
  while ((await chain.rpc.call<unknown[]>('getrawmempool')).length > 0);
  await chain.mineEmpty(blocksAtEnd);
  for (const until = Date.now() + settledWithinMs; Date.now() < until; await delay(lookMs)) {
    if (await isSettled(pool, await chain.rpc.call<string>('getbestblockhash'))) return [];
    // a batch of withdrawals may be sent at any time
    if ((await chain.rpc.call<unknown[]>('getrawmempool')).length > 0) await chain.mineMempool();
  }
  return ['payments still wait'];
}

/** Whether index, payments and orders have processed a block, and nothing waits. */
async function isSettled(pool: pg.Pool, best: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM chain.state, service.payments_offset AS p, service.token_orders_offset AS o
      WHERE tip_hash = $1 AND p.hash = $1
        AND o.change >= coalesce((SELECT max(change) FROM service.payments_seen), 0)
        AND NOT EXISTS (SELECT FROM service.token_orders WHERE is_waiting OR look_at <= now())
        AND NOT EXISTS (SELECT FROM service.payments_seen WHERE height IS NULL AND gone_at IS NULL)`,
    [Buffer.from(best, 'hex').reverse()],
  );
  return rowCount === 1;
}

interface ComparedOrder {
  readonly customer: TokenCustomer;
  readonly wanted: ReturnType<typeof endOfOrder>;
  readonly is: OrderEnd;
}

async function modelledEnds(run: EndedTokenRun): Promise<ComparedOrder[]> {
  const { chain, model, customers, payments, shop } = run;
  const best = await chain.rpc.call<string>('getbestblockhash');
  const { made } = await model.stateAt(best);
  const outputs = await model.outputsTo(best, scriptsOf(customers.all));
  const byScript = Map.groupBy(
    outputs.map(
      (output): PaidOutput => ({
        ...output,
        runes: made.get(output.outpoint) ?? new Map(),
        isAside: payments.inscribed.has(output.outpoint),
      }),
    ),
    ({ script }) => script,
  );
  const ends: ComparedOrder[] = [];
  for (const customer of customers.all) {
    const paid = [customer.feeScript, customer.tokenScript].flatMap((script) => byScript.get(script) ?? []);
    const shown = await shop.ask<ShownOrder>(`/tokenpay/order/${customer.id}`, null);
    const is = shownEnd(shown.body, payments.runes);
    ends.push({ customer, wanted: endOfOrder(customer, paid), is });
  }
  return ends;
}

export const scriptsOf = (orders: readonly ModelOrder[]): ReadonlySet<string> =>
  new Set(orders.flatMap(({ feeScript, tokenScript }) => [feeScript, tokenScript]));

/**
 * Checks that each message arrived at least once, in order, signed, and with the secret of its order. The last message
 * must report the end.
 */
async function toldOf(
  { pool, receiver, watch, shop }: EndedTokenRun,
  ends: readonly ComparedOrder[],
): Promise<{ readonly faults: string[]; readonly count: number }> {
  const { byTarget, lastOf } = await toldMessages(pool, receiver);
  const { keys } = (
    await shop.ask<{ readonly keys: readonly { readonly key: string }[] }>('/webhooks/keys', null)
  ).body;
  const faults: string[] = [];
  let count = 0;
  for (const { customer, is } of ends) {
    const all = byTarget.get(`/${customer.number}`) ?? [];
    const firsts = firstsOf(all);
    count += firsts.length;
    const bodies = firsts
      .toSorted((a, b) => sequenceOf(a) - sequenceOf(b))
      .map(({ body }) => JSON.parse(body.toString()) as ShopOrder);
    const told = {
      id: customer.id,
      sequences: firsts.map(sequenceOf),
      last: lastOf.get(`token ${customer.id}`) ?? 0,
      states: bodies.map(({ state }) => state),
      seen: watch.statesOf(customer.id),
      end: is.state,
      forged: all.filter(
        (message) =>
          !isGenuine(
            message,
            keys.map(({ key }) => key),
          ) || secretIn(message) !== customer.secret,
      ).length,
    };
    faults.push(...toldFaults(told));
  }
  return { faults, count };
}

const secretIn = ({ body }: Received): string | undefined =>
  (JSON.parse(body.toString()) as ShopOrder).webhookSecretToken;

/** Whether a message is signed with one of these keys (docs/webhooks.md, "For receivers"). */
function isGenuine({ headers, body }: Received, keys: readonly string[]): boolean {
  const signed = Buffer.concat([
    Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`),
    body,
  ]);
  const signatures = String(headers['webhook-signature']).split(' ');
  return keys.some((key) => {
    const x = Buffer.from(key.slice('whpk_'.length), 'base64').toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return signatures.some(
      (one) => one.startsWith('v1a,') && verify(null, signed, publicKey, Buffer.from(one.slice(4), 'base64')),
    );
  });
}

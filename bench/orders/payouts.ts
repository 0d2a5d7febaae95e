import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import type { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import type { CliResult } from '#test/support/run-cli.ts';
import type { Figure } from '../report.ts';

/** Number of shares in one payout. Its transaction has room for no more outputs. */
export const shares = 1000;
const shareSats = 1000;
/**
 * Number of coins that pay for the payout. They are small, like those of revenue, so that the payout spends hundreds of
 * them.
 */
const coins = 500;
const coinSats = 3000;
const firstOwner = 30_000;
const lookMs = 20;
const waitMs = 120_000;

export interface PayoutParts {
  readonly client: pg.Client;
  readonly pid: number;
  readonly chain: RegtestChain;
  /** A delivered order, from which the shares come. */
  readonly orderId: string;
  readonly command: (words: readonly string[]) => Promise<CliResult>;
}

/**
 * Measures a payout of 1,000 shares to as many addresses: from the command to the broadcast, and then to its entries in
 * the ledger. The processor time is that of the service and its Postgres.
 */
export async function payoutFigures(parts: PayoutParts): Promise<Figure[]> {
  const { client, pid, chain, orderId } = parts;
  await addCoins(parts);
  await bookShares(client, orderId);
  const cpuMs = (): number => familyCpuMs(pid) ?? Number.NaN;
  const before = cpuMs();
  const startedAt = performance.now();
  await succeed(parts, ['payouts', 'send']);
  await untilState(client, 'sent');
  const sentMs = performance.now() - startedAt;
  const sentCpuMs = cpuMs() - before;
  await chain.mineMempool();
  const minedAt = performance.now();
  await untilState(client, 'mined');
  const minedMs = performance.now() - minedAt;
  const minedCpuMs = cpuMs() - before - sentCpuMs;
  const { rows } = await client.query<{ inputs: number }>(
    `SELECT jsonb_array_length(plan->'inputs') AS inputs FROM service.wallet_transactions WHERE kind = 'payout'`,
  );
  return [
    { name: 'payoutInputs', value: rows[0]?.inputs ?? 0, unit: '' },
    { name: 'payoutSentMs', value: sentMs, unit: 'ms' },
    { name: 'payoutSentCpuS', value: sentCpuMs / 1000, unit: 's', target: { most: 10 } },
    { name: 'payoutMinedMs', value: minedMs, unit: 'ms' },
    { name: 'payoutMinedCpuS', value: minedCpuMs / 1000, unit: 's' },
  ];
}

/** Makes funds of the operator. All are in one block. */
async function addCoins(parts: PayoutParts): Promise<void> {
  const { client, chain } = parts;
  const { address } = JSON.parse(await succeed(parts, ['wallet', 'fund', '--json'])) as { address: string };
  const { scriptPubKey } = await chain.rpc.call<{ scriptPubKey: string }>('validateaddress', [address]);
  const outputScript = Buffer.from(scriptPubKey, 'hex');
  const coin = await chain.coin();
  const outputs = Array.from({ length: coins }, () => ({ value: coinSats, outputScript }));
  const change = { value: coin.value - coins * coinSats - 100_000, to: coin.owner };
  await chain.mine([transaction([coin], [...outputs, change])]);
  await until(async () => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM service.wallet_coins WHERE kind = 'fund' AND held = 'free'`,
    );
    return rows[0]?.count === coins;
  }, 'the coins are not listed');
}

/** Registers partners, each with a different address, and books a share for each. */
async function bookShares(client: pg.Client, orderId: string): Promise<void> {
  const places = Array.from({ length: shares }, (_, place) => place);
  const run = randomUUID().slice(0, 8);
  const codes = places.map((place) => `${run}-${place}`);
  await client.query(
    `INSERT INTO service.referrals (code, address, script)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])`,
    [
      codes,
      places.map((place) => addressOf(firstOwner + place)),
      places.map((place) => Buffer.from(scriptOf(firstOwner + place))),
    ],
  );
  await client.query(
    `INSERT INTO service.ledger_entries
       (subject_kind, subject_id, from_account, to_account, to_owner, asset, amount, txid, vout)
     SELECT 'order', $1::uuid, 'outside', 'owed', NULL, 0, $3::bigint * cardinality($2::text[]), sha256('shares'), 0
     UNION ALL
     SELECT 'order', $1, 'owed', 'referral', code, 0, $3, sha256('shares'), NULL FROM unnest($2::text[]) AS code`,
    [orderId, codes, shareSats],
  );
}

async function succeed({ command }: PayoutParts, words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await command(words);
  if (exitCode !== 0) throw new Error(`satscribe ${words.join(' ')} ended with ${exitCode}: ${stderr}`);
  return stdout;
}

const untilState = (client: pg.Client, state: string): Promise<void> =>
  until(
    async () => (await client.query('SELECT FROM service.payouts WHERE state = $1', [state])).rowCount === 1,
    `the payout is not ${state}`,
  );

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const end = performance.now() + waitMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(otherwise);
    await sleep(lookMs);
  }
}

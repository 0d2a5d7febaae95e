import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isAdvisoryLockHeld } from '#kernel/pg/advisory-lock.ts';
import { isUuid } from '#kernel/primitives/uuid.ts';
import { askPartnerPayouts } from '#payouts/asking/ask-payouts.ts';
import { askRevenue, readRevenue } from '#payouts/asking/ask-revenue.ts';
import { cancelPayout } from '#payouts/asking/cancel-payout.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import { recipientsOf, satsOf } from '#payouts/payout/payout.ts';
import type { RevenueSum } from '#payouts/planning/revenue.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import {
  type NamedDestination,
  requireNotOwn as requireForeignTo,
} from '#src/app/ordering/foreign-destination.ts';
import { requirePayoutDepth } from '#src/app/ordering/network-settings.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { withService } from '#src/commands/service-database.ts';
import { readDestination } from '#src/commands/wallet/destination.ts';
import { endReturn } from '#tokenpay/crediting/decisions.store.ts';
import { type PublicWallet, requirePublicWallet } from '#wallet/public-wallet.ts';
import { payoutLines, wantedPartner } from './payouts-shown.ts';

/**
 * How long to wait for the payouts, in ms. It is longer than one round of a busy service. A payout that waits for a
 * coin or a fee takes longer than a person would wait.
 */
const waitMs = 60_000;
const lookEveryMs = 500;

/** Pays partners everything that can be paid. */
export async function send(context: CommandContext): Promise<void> {
  const { flags, print, config } = context;
  const partner = wantedPartner(flags);
  await withService(context, async (pool) => {
    await walletOf(pool, config);
    const isDryRun = flags['dry-run'] !== undefined;
    const { ids, payouts } = await askPartnerPayouts(pool, {
      partner,
      confirmations: config.payoutConfirmations,
      isDryRun,
    });
    if (isDryRun) {
      const shares = payouts.flat().map(({ account, owner, address, sats }) => ({
        kind: account,
        code: account === 'referral' ? owner : null,
        address,
        sats: Number(sats),
      }));
      const outputs = payouts.reduce((sum, of) => sum + recipientsOf(of).length, 0);
      await print(
        flags['json'] === undefined
          ? `${shares.map(({ code, address, sats }) => `${String(sats).padStart(12)} sats  ${code === null ? '' : `${code}  `}${address}\n`).join('')}${satsOf(payouts.flat())} sats in ${outputs} ${outputs === 1 ? 'output' : 'outputs'} would be paid; to pay them, repeat the command without --dry-run\n`
          : `${JSON.stringify({ isDryRun, shares })}\n`,
      );
      return;
    }
    await showProgress(context, pool, ids);
  });
}

/** Shows how much revenue the operator can withdraw, or withdraws it. */
export async function revenue(context: CommandContext): Promise<void> {
  const { flags, print, config } = context;
  const to = flags['to'];
  const sats = satsFlag(flags['sats']);
  if (to === undefined && sats !== null)
    throw new UsageError('missing address; use satscribe payouts revenue --to ADDRESS --sats N');
  const work = async (pool: pg.Pool): Promise<void> => {
    const wallet = await walletOf(pool, config);
    const parts = { proveFree: proveFree(pool), confirmations: config.payoutConfirmations };
    if (to === undefined) {
      const sum = await readRevenue(pool, parts);
      await print(flags['json'] === undefined ? sumText(sum) : `${JSON.stringify(jsonOf(sum))}\n`);
      return;
    }
    const destination = readDestination(to, wallet.network, 'wallet');
    await requireNotOwn(context, pool, wallet, destination);
    const { ids } = await askRevenue(pool, { ...parts, script: destination.script, address: to, sats });
    await showProgress(context, pool, ids);
  };
  // two connections: one holds the lock while the other reads contents of coins in a snapshot of the index
  await withService(context, work, 2);
}

/** Cancels a payout that has no signed transaction. */
export async function cancel(context: CommandContext, id: string | undefined): Promise<void> {
  const { flags, print } = context;
  if (id === undefined || !isUuid(id))
    throw new UsageError(
      'missing payout; use satscribe payouts cancel <id>, and satscribe payouts list for the ids',
    );
  await withService(context, async (pool) => {
    await cancelPayout(pool, id, endReturn, flags['not-paid'] !== undefined);
    const payouts = await listPayouts(pool, 1, [id]);
    await print(flags['json'] === undefined ? payoutLines(payouts) : `${JSON.stringify(payouts)}\n`);
  });
}

export async function walletOf(pool: pg.Pool, config: CommandContext['config']): Promise<PublicWallet> {
  const wallet = await requirePublicWallet(pool);
  requirePayoutDepth(config, wallet.network);
  return wallet;
}

/** Throws `destination_own` for any address of the wallet, which the node derives. */
export async function requireNotOwn(
  context: CommandContext,
  pool: pg.Pool,
  wallet: PublicWallet,
  destination: NamedDestination,
): Promise<void> {
  await withNodeOf(context, wallet.network, (node, signal) =>
    requireForeignTo({ node, wallet, signal, pool }, destination),
  );
}

function satsFlag(text: string | undefined): bigint | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,15}$/u.test(text)) return BigInt(text);
  throw new UsageError(`--sats ${text} must be a whole number of sats above 0`);
}

/** Waits until the process with the seed has sent these payouts, or has stored the reason why not. */
export async function showProgress(
  { flags, print, lifecycle: { signal } }: CommandContext,
  pool: pg.Pool,
  ids: readonly string[],
): Promise<void> {
  const until = performance.now() + waitMs;
  let payouts: readonly ListedPayout[] = [];
  let told = '';
  for (;;) {
    payouts = await listPayouts(pool, ids.length, ids);
    const left = payouts.filter(
      ({ state, stuck }) => (state === 'asked' || state === 'signed') && stuck === null,
    );
    const isFollowed = await isAdvisoryLockHeld(pool, 'orders');
    if (!isFollowed) {
      process.stderr.write(
        'The payouts are stored, but no process with the seed runs. Such a process makes the payouts once it runs (WALLET_SEED_FILE, docs/wallet.md).\n',
      );
    }
    if (left.length === 0 || !isFollowed || performance.now() > until || signal.aborted) break;
    const line = `${payouts.length - left.length} of ${payouts.length} payouts were sent\n`;
    if (line !== told) process.stderr.write(line);
    told = line;
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  await print(flags['json'] === undefined ? payoutLines(payouts) : `${JSON.stringify(payouts)}\n`);
}

function sumText(sum: RevenueSum): string {
  const line = (sats: bigint, words: string): string => `${String(sats).padStart(16)}  ${words}\n`;
  return `by coins
${line(sum.free, 'sats in free coins that have enough confirmations and fit into one transaction')}${line(-sum.owed, 'are owed to partners')}${line(-sum.unsigned, 'are in payouts of revenue that are not signed')}${line(-sum.reserve, 'stay for the fee (twice the present fee) and for the change')}by ledger
${line(sum.earned, 'sats belong to the service and the operator')}${line(-sum.open, 'are in payouts of revenue that are not in a block')}${line(-sum.reserve, 'stay for the fee and the change')}can be taken
${line(sum.takeable, 'sats, the smaller of the two sums; the fee is paid in addition')}${sum.takeable > 0n ? 'satscribe payouts revenue --to ADDRESS takes these sats\n' : ''}`;
}

const jsonOf = (sum: RevenueSum): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(sum).map(([name, sats]) => [name, Number(sats)]));

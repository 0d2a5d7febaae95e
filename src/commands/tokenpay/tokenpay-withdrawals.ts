import type pg from 'pg';
import { requireAccount } from '#accounts/account.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { isOrderId } from '#orders/order/order-machine.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { shownTime, withService } from '#src/commands/service-database.ts';
import { readDestination } from '#src/commands/wallet/destination.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import { bitcoinToken, coinDecimals } from '#tokenpay/telling/token-order-answer.ts';
import {
  allowAddress,
  forbidAddress,
  type NewAddress,
  readAllowed,
} from '#tokenpay/withdrawing/addresses.store.ts';
import { type Withdrawal, withdrawalStates } from '#tokenpay/withdrawing/withdrawal.ts';
import { type ShownRune, shownRuneOf, withdrawalAnswer } from '#tokenpay/withdrawing/withdrawal-answer.ts';
import { listWithdrawals } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { requirePublicWallet } from '#wallet/public-wallet.ts';
import { cancelForOperator, requireWithdrawal } from '#withdrawals/cancel-withdrawal.ts';

const limitDefault = 50;
const limitMost = 10_000;
/** Maximum number of characters of a reason. The database has the same bound. */
const reasonMax = 1000;

/** Lists withdrawals, shows one of them, or cancels one that has no signed transaction. */
export async function withdrawals(context: CommandContext): Promise<void> {
  const [, action = 'list', id] = context.words;
  if (action === 'list') return list(context);
  if (action !== 'show' && action !== 'cancel')
    throw new UsageError('satscribe tokenpay withdrawals [list], show <id> or cancel <id>');
  if (id === undefined || !isOrderId(id))
    throw new UsageError(
      `missing id; use satscribe tokenpay withdrawals ${action} <id>, and satscribe tokenpay withdrawals for the ids`,
    );
  return action === 'show' ? show(context, id) : cancel(context, id);
}

async function list(context: CommandContext): Promise<void> {
  const { flags } = context;
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  const state = withdrawalStates.find((name) => name === flags['state']) ?? null;
  if (flags['state'] !== undefined && state === null)
    throw new UsageError(`--state ${flags['state']} must be one of ${withdrawalStates.join(', ')}`);
  const wanted = { account: flags['account'] ?? null, state, limit };
  await withService(context, async (pool) => {
    const listed = await listWithdrawals(pool, wanted);
    await shown(context, pool, listed, 'no such withdrawals');
  });
}

async function show(context: CommandContext, id: string): Promise<void> {
  await withService(context, async (pool) => {
    await shown(context, pool, [await requireWithdrawal(pool, id)], '');
  });
}

/** Cancels a withdrawal that can never be mined. Its units belong to the account again. */
async function cancel(context: CommandContext, id: string): Promise<void> {
  const reason = context.flags['reason']?.trim() ?? '';
  if (reason === '' || reason.length > reasonMax)
    throw new UsageError(
      `missing or too long --reason TEXT; the reason has at most ${reasonMax} characters, and the account can read it`,
    );
  const isNotPaid = context.flags['not-paid'] !== undefined;
  await withService(context, async (pool) => {
    const ended = await withTransaction(pool, (tx) => cancelForOperator(tx, id, reason, isNotPaid));
    await shown(context, pool, [ended], '');
  });
}

async function shown(
  { flags, print }: CommandContext,
  pool: pg.Pool,
  listed: readonly Withdrawal[],
  none: string,
): Promise<void> {
  const assets = [...new Set(listed.map(({ asset }) => asset))].filter((asset) => asset !== satsAsset);
  const runes = await tokenRunesOf(pool, assets);
  if (flags['json'] !== undefined) {
    const answers = listed.map((each) => ({
      ...withdrawalAnswer(each, shownRuneOf(each, runes)),
      payout: each.payout,
    }));
    return print(`${JSON.stringify(answers)}\n`);
  }
  if (listed.length === 0) return print(`${none}\n`);
  await print(listed.map((each) => lineOf(each, shownRuneOf(each, runes))).join(''));
}

function lineOf(withdrawal: Withdrawal, rune: ShownRune): string {
  const { id, account, createdAt, state, amount, address, fee, postage, payer, txid, reason } = withdrawal;
  const units = shownAmount(trustedU128(amount), rune?.divisibility ?? coinDecimals);
  const price = postage === 0n ? `fee ${fee}` : `fee ${fee}, postage ${postage}`;
  const head = `${shownTime(createdAt)} ${state.padEnd(10)} ${terminalText(account)}  ${units} ${rune?.name ?? bitcoinToken}`;
  const below = [
    id,
    `${address}  ${price} sats (${payer})`,
    ...(txid === null ? [] : [Buffer.from(txid).reverse().toString('hex')]),
    ...(reason === null ? [] : [terminalText(reason)]),
  ];
  return `${head}\n${below.map((line) => `  ${line}\n`).join('')}`;
}

/** Shows or changes the addresses to which an account may withdraw. */
export async function addresses(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const { account, allow, forbid } = flags;
  if ((allow !== undefined || forbid !== undefined) && account === undefined)
    throw new UsageError('missing account; name it with --account NAME');
  if (allow !== undefined && forbid !== undefined)
    throw new UsageError(
      '--allow and --forbid exclude each other, because only one address can be changed at a time',
    );
  if (flags['any'] !== undefined && forbid === undefined)
    throw new UsageError('--any needs --forbid ADDRESS');
  await withService(context, async (pool) => {
    if (account !== undefined) await requireAccount(pool, account);
    const text = allow ?? forbid;
    if (text !== undefined && account !== undefined) {
      const wallet = await requirePublicWallet(pool);
      const { script } = readDestination(
        text,
        wallet.network,
        'wallet',
        allow === undefined ? '--forbid' : '--allow',
      );
      if (allow !== undefined)
        await withTransaction(pool, (tx) => allowAddress(tx, { account, address: text, script }));
      else await forbidListed(context, pool, { account, address: text, script });
    }
    const allowed = await readAllowed(pool, account ?? null);
    if (flags['json'] !== undefined)
      return print(
        `${JSON.stringify(allowed.map(({ account: of, address, addedAt, countsAt }) => ({ account: of, address, addedAt, countsAt })))}\n`,
      );
    if (allowed.length === 0)
      return print(
        'no account has withdrawal addresses, and an account without one may withdraw to any address\n',
      );
    await print(
      allowed
        .map(
          ({ account: of, addedAt, address, counts, countsAt }) =>
            `${terminalText(of).padEnd(16)} ${shownTime(addedAt)} ${address}${counts ? '' : `  active from ${shownTime(countsAt)}`}\n`,
        )
        .join(''),
    );
  });
}

async function forbidListed(
  { flags }: CommandContext,
  pool: pg.Pool,
  { account, address, script }: NewAddress,
): Promise<void> {
  const found = await withTransaction(pool, (tx) =>
    forbidAddress(tx, { account, script }, flags['any'] !== undefined),
  );
  if (found === 'unknown')
    throw new UsageError(`--forbid ${address}: the account does not have this address`);
  if (found === 'last')
    throw new UsageError(
      `--forbid ${address} is the last address of the account, and without an address the account may withdraw to any address. Allow another address first, or add --any if this is what you want`,
    );
}

import { AppError } from '#kernel/errors/app-error.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import { holdRestored } from '#src/app/backups/held/begin-hold.ts';
import { bookAndRelease } from '#src/app/backups/held/book-payment.ts';
import { type FoundTransaction, isOfWallet, paymentsOf } from '#src/app/backups/held/found-transaction.ts';
import {
  countLeft,
  type HeldParts,
  type HeldPayments,
  readHeldPayments,
  requireReleasable,
} from '#src/app/backups/held/held-payments.ts';
import type { Booking, UnsurePayment } from '#src/app/backups/held/match-payments.ts';
import type { Payee } from '#src/app/backups/held/open-payments.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { confirm } from '#src/commands/indexing/confirm.ts';
import { withService } from '#src/commands/service-database.ts';
import { walletOf } from './payouts-asked.ts';

/** How often a line about the search is printed, in blocks. */
const toldEvery = 100;

/** Shows the payments that wait after a restore, and what the chain has of them. */
export async function held(context: CommandContext): Promise<void> {
  await withHeld(context, async (found) => {
    await shown(context, found?.held ?? null);
  });
}

/** Puts payments on hold, for a database that was restored by other means than `satscribe restore`. */
export async function hold(context: CommandContext): Promise<void> {
  const { flags, print, config } = context;
  await withService(context, async (pool) => {
    await walletOf(pool, config);
    await holdRestored(pool);
    await print(
      flags['json'] === undefined
        ? 'payments are on hold until satscribe payouts release\n'
        : `${JSON.stringify({ isOnHold: true })}\n`,
    );
  });
}

/** Books the payments that the chain has, and releases the others. */
export async function release(context: CommandContext): Promise<void> {
  const { flags, print, lifecycle } = context;
  await withHeld(context, async (read, parts) => {
    if (read === null) throw new AppError('release_refused', 'Payments are not on hold.');
    const { held: found } = read;
    const mayPayAgain = flags['pay-again'] !== undefined;
    requireReleasable(found, mayPayAgain);
    if (flags['yes'] === undefined) {
      await print(textOf(found));
      const { stdin: input, stderr: output } = process;
      await confirm(questionOf(found), { input, output, signal: lifecycle.signal });
    }
    const done = await bookAndRelease(parts, read, mayPayAgain);
    const [booked, left] = [done.bookings.length, countLeft(done)];
    await print(
      flags['json'] === undefined
        ? `${booked} found ${booked === 1 ? 'transaction is' : 'transactions are'} booked. ${left} ${left === 1 ? 'payment is' : 'payments are'} made now.\n`
        : `${JSON.stringify({ ...jsonOf(done), isOnHold: false, released: left })}\n`,
    );
  });
}

async function withHeld(
  context: CommandContext,
  work: (read: Awaited<ReturnType<typeof readHeldPayments>>, parts: HeldParts) => Promise<void>,
): Promise<void> {
  // two connections: a transaction reads payments while the chain is compared
  await withService(
    context,
    async (pool) => {
      const wallet = await walletOf(pool, context.config);
      await withNodeOf(context, wallet.network, async (node, signal) => {
        const onBlock = (height: number, tip: number): void => {
          if (height % toldEvery === 0) process.stderr.write(`block ${height} of ${tip}\n`);
        };
        const parts = { pool, node, wallet, signal, onBlock };
        await work(await readHeldPayments(parts), parts);
      });
    },
    2,
  );
}

const questionOf = (found: HeldPayments): string =>
  `Payments that only other nodes have in their mempools were not found. Book ${found.bookings.length} found transactions, and make ${countLeft(found)} payments?`;

async function shown({ flags, print }: CommandContext, found: HeldPayments | null): Promise<void> {
  if (flags['json'] !== undefined)
    return print(`${JSON.stringify(found === null ? { isOnHold: false } : jsonOf(found))}\n`);
  await print(found === null ? 'payments are not on hold\n' : textOf(found));
}

const whyUnsure: Readonly<Record<UnsurePayment['why'], string>> = {
  unmined: 'no block has the transaction yet',
  foreign: 'the wallet did not sign all of the transaction',
  runes: 'the output has other runes, or the index does not know its runes',
  others: 'the transaction pays others, too',
  change: 'the transaction has several outputs of the wallet',
  amount: 'the transaction pays another amount to the address',
};

/** The payments on hold and the found transactions, in words. */
export function textOf(found: HeldPayments): string {
  const { hold, behind, bookings, unsure, unknown, unmined, unexplained } = found;
  const lines = [
    `payments are on hold since ${hold.beganAt.toISOString()}, after the restore of a backup of ${hold.backupAt.toISOString()}`,
    `${countLeft(found)} payments wait, and the chain does not have them`,
    ...(behind === null ? [] : [behind]),
  ];
  for (const booking of bookings) lines.push(...bookedLines(booking));
  for (const made of unexplained) {
    lines.push(...unexplainedLines(made, unsure));
    if (unmined.includes(made)) lines.push('  a release waits until a block has the transaction');
  }
  for (const { found: made, output } of unknown)
    lines.push(
      `the database does not have the payment of ${output.value} sats to ${output.address ?? output.script} by ${made.txid}: have it asked for again before the release`,
    );
  return `${terminalLines(lines)}\n`;
}

/** A found transaction that a release books. */
function bookedLines({ found, open, shares, paid }: Booking): string[] {
  const head = `${headOf(found)} is not in the backup, and ${makesOf(shares.length > 0, paid)}:`;
  if (shares.length > 0) return [head, ...shares.map(shareLine)];
  const lines = paid.map(
    ({ output: { value, address, script }, payee }) =>
      `  ${value} sats to ${address ?? script}: ${payee === null ? 'no payment on hold explains it' : nameOf(payee, open?.payout.id ?? null)}`,
  );
  return [head, ...lines];
}

/** The effect of a transaction that is booked, in words. */
function makesOf(isOfPartners: boolean, paid: Booking['paid']): string {
  if (isOfPartners) return 'pays what partners are owed';
  return paid.some(({ payee }) => payee !== null) ? 'makes payments on hold' : 'spends coins of accounts';
}

const shareLine = ({ account, owner, sats, address }: PayoutShare): string =>
  `  ${sats} sats to ${address}: ${account === 'referral' ? `share of the code ${owner}` : 'share of a creator'}`;

const terminalLines = (lines: readonly string[]): string =>
  lines.map((line) => terminalText(line)).join('\n');

const headOf = ({ txid, height }: FoundTransaction): string =>
  `${txid} ${height === null ? 'in the mempool' : `in block ${height}`}`;

const nameOf = ({ withdrawal }: Payee, payout: string | null): string =>
  withdrawal === null ? `payout ${payout}` : `withdrawal ${withdrawal}`;

/** A found transaction that makes no payment on hold for sure. */
function unexplainedLines(made: FoundTransaction, unsure: readonly UnsurePayment[]): string[] {
  const orders = [
    ...new Set(made.inputs.flatMap(({ coin }) => (coin?.kind === 'order' ? (coin.subject ?? []) : []))),
  ];
  const whose = isOfWallet(made) ? 'and the wallet signed it' : 'and spends or pays what the service knows';
  return [
    `${headOf(made)} is not in the backup, ${whose}:`,
    ...orders.map((id) => `  it spends coins of order ${id}`),
    ...paymentsOf(made).map(({ value, address, script }) => `  ${value} sats to ${address ?? script}`),
    ...unsure
      .filter(({ found }) => found === made)
      .map(
        ({ payee, payout, why }) =>
          `  ${payee.sats} sats to ${payee.address} may be ${nameOf(payee, payout)}: ${whyUnsure[why]}`,
      ),
  ];
}

/** The same for programs. */
export function jsonOf(found: HeldPayments): object {
  const { hold, behind, bookings, unsure, unknown, unmined, unexplained } = found;
  return {
    isOnHold: true,
    since: hold.beganAt,
    backup: hold.backupAt,
    behind,
    waiting: countLeft(found),
    booked: bookings.map(({ found: { txid, height }, open, shares, paid }) => ({
      txid,
      height,
      payout: open?.payout.id ?? null,
      shares: shares.map(({ account, owner, sats }) => ({ account, owner, sats: Number(sats) })),
      outputs: paid.map(({ output, payee }) => ({
        sats: Number(output.value),
        address: output.address,
        isPayment: payee !== null,
        withdrawal: payee?.withdrawal ?? null,
      })),
    })),
    unsure: unsure.map(({ found: { txid, height }, payee, payout, why }) => ({
      txid,
      height,
      payout,
      withdrawal: payee.withdrawal,
      address: payee.address,
      sats: Number(payee.sats),
      why,
    })),
    unknown: unknown.map(({ found: { txid, height }, output: { value, address, script } }) => ({
      txid,
      height,
      sats: Number(value),
      address,
      script,
    })),
    unmined: unmined.map(({ txid }) => txid),
    unexplained: unexplained.map((made) => ({
      txid: made.txid,
      height: made.height,
      isOfWallet: isOfWallet(made),
      orders: [
        ...new Set(made.inputs.flatMap(({ coin }) => (coin?.kind === 'order' ? (coin.subject ?? []) : []))),
      ],
      spent: made.inputs.filter(({ key }) => key !== null).map(({ outpoint }) => outpoint),
      outputs: paymentsOf(made).map(({ value, address, script }) => ({
        sats: Number(value),
        address,
        script,
      })),
    })),
  };
}

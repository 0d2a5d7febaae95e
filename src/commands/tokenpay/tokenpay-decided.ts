import { userInfo } from 'node:os';
import type pg from 'pg';
import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import { payoutFeeRateMax } from '#payouts/planning/plan-payout.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { proveFree } from '#src/app/ordering/bump-parts.ts';
import { requireNotOwn, showProgress, walletOf } from '#src/commands/ordering/payouts-asked.ts';
import { withService } from '#src/commands/service-database.ts';
import { readDestination } from '#src/commands/wallet/destination.ts';
import { decideCredit, type NamedAside } from '#tokenpay/operator/decide-credit.ts';
import {
  type AskedReturn,
  askReturn,
  type PreviewedReturn,
  previewReturn,
} from '#withdrawals/return-aside.ts';

/** Maximum numbers of characters of a reason and of a name. The database has the same bounds. */
const reasonMax = 1000;
const nameMax = 100;

/** Credits an account with an output that was set aside. */
export async function credit(context: CommandContext, text: string): Promise<void> {
  const { flags, print } = context;
  const named = namedAside(context, text);
  await withService(context, async (pool) => {
    const { order, credit: found } = await decideCredit(pool, named, new Date());
    const output = outpointOf(named);
    const runes = found.runes.length;
    await print(
      flags['json'] === undefined
        ? `${output} is credited to ${order.account}: ${found.sats} sats${runes === 0 ? '' : ` and ${runes} ${runes === 1 ? 'rune' : 'runes'}`}\n`
        : `${JSON.stringify({ output, account: order.account, orderId: order.id, sats: Number(found.sats) })}\n`,
    );
  });
}

/** Sends an output that was set aside to an address. The complete output is sent. */
export async function sendAway(context: CommandContext, text: string): Promise<void> {
  const { flags, print, config } = context;
  const named = namedAside(context, text);
  const to = flags['to'];
  if (to === undefined)
    throw new UsageError('missing address; use satscribe tokenpay return <txid>:<vout> --to ADDRESS');
  const feeRate = feeRateFlag(flags['fee-rate']);
  const work = async (pool: pg.Pool): Promise<void> => {
    const wallet = await walletOf(pool, config);
    const destination = readDestination(to, wallet.network, 'wallet');
    await requireNotOwn(context, pool, wallet, destination);
    const asked = { ...named, feeRate, script: destination.script, address: to };
    if (flags['dry-run'] === undefined) return showProgress(context, pool, [await askReturn(pool, asked)]);
    const preview = await previewReturn(pool, asked, { wallet, proveFree: proveFree(pool) });
    await print(previewText(preview, asked, flags['json'] !== undefined));
  };
  // two connections: one holds the lock while the other reads contents of coins in a snapshot of the index
  await withService(context, work, 2);
}

function previewText(
  { credit: found, planned }: PreviewedReturn,
  asked: AskedReturn,
  isJson: boolean,
): string {
  const { address } = asked;
  const output = outpointOf(asked);
  const fee = planned.kind === 'plan' ? Number(planned.fee) : null;
  const missing = planned.kind === 'none' ? planned.limit : null;
  if (isJson)
    return `${JSON.stringify({ isDryRun: true, output, sats: Number(found.sats), aside: found.aside, to: address, fee, missing })}\n`;
  const how =
    planned.kind === 'plan' ? `the operator would pay ${planned.fee} sats` : whyWaits[planned.limit];
  return `${output}, ${found.sats} sats (${found.aside}), would go to ${address} with everything in it; ${how}. To send it, repeat the command without --dry-run.\n`;
}

const whyWaits = {
  coins:
    'the return would wait for a coin that pays the fee (satscribe wallet fund shows where to add a coin)',
  rate: 'the return would wait for lower fees',
  size: 'the return would wait for a larger coin that pays the fee (satscribe wallet fund shows where to add a coin)',
} as const;

/** Sats per 1,000 virtual bytes, from `--fee-rate`. `null` if the flag is absent. */
function feeRateFlag(text: string | undefined): bigint | null {
  if (text === undefined) return null;
  const rate = /^\d{1,3}(?:\.\d{1,3})?$/u.test(text) ? BigInt(Math.round(Number(text) * 1000)) : 0n;
  if (rate > 0n && rate <= payoutFeeRateMax) return rate;
  throw new UsageError(
    `--fee-rate ${text} must be from 0.001 to ${payoutFeeRateMax / 1000n} sats per virtual byte`,
  );
}

/** The output that the words name, with the person who decided and the reason. */
function namedAside({ flags }: CommandContext, text: string): NamedAside {
  const outpoint = parseOutpoint(text);
  if (outpoint === null)
    throw new UsageError(`${text} is not an output; an output has the form <txid>:<vout>`);
  const reason = flags['reason']?.trim() ?? '';
  if (reason === '' || reason.length > reasonMax)
    throw new UsageError(
      `missing or too long --reason TEXT; the reason has at most ${reasonMax} characters and is stored with the decision`,
    );
  const by = flags['by']?.trim() ?? systemUser();
  if (by === '' || by.length > nameMax)
    throw new UsageError(
      `missing or too long --by NAME; the name of the person who decides has at most ${nameMax} characters`,
    );
  return { ...outpoint, by, reason };
}

/** The name of the user who runs the command. On some systems the user has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

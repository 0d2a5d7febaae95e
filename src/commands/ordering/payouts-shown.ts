import { csvLine } from '#kernel/text/csv.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { readReferrals } from '#payouts/asking/ask-payouts.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import type { ReferralStanding } from '#payouts/planning/payable.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { shownTime, withService } from '#src/commands/service-database.ts';

const limitDefault = 50;
const limitMost = 10_000;

/** Shows payouts, the newest first. */
export async function list(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit is a number from 1 to ${limitMost}`);
  await withService(context, async (pool) => {
    const payouts = await listPayouts(pool, limit);
    if (flags['csv'] !== undefined) await print(payoutsCsv(payouts), 'exact');
    else await print(flags['json'] === undefined ? payoutLines(payouts) : `${JSON.stringify(payouts)}\n`);
  });
}

/** A line each, with why one waits, and the transaction below it. */
export function payoutLines(payouts: readonly ListedPayout[]): string {
  if (payouts.length === 0) return 'no payouts: satscribe payouts referrals shows what partners are owed\n';
  const lines = payouts.map(({ id, kind, state, sats, fee, shares, askedAt, txid, stuck }) => {
    const head = [
      shownTime(askedAt),
      kind.padEnd(8),
      state.padEnd(9),
      `${String(sats).padStart(12)} sats`,
      `fee ${fee ?? '-'}`.padEnd(10),
      `${shares.length} ${shares.length === 1 ? 'share' : 'shares'}`,
    ].join(' ');
    const below = [id, ...(txid === null ? [] : [txid]), ...(stuck === null ? [] : [terminalText(stuck)])];
    return `${head}\n${below.map((line) => `  ${line}\n`).join('')}`;
  });
  return lines.join('');
}

/** A line a share. */
function payoutsCsv(payouts: readonly ListedPayout[]): string {
  const head = [
    'payout',
    'kind',
    'state',
    'asked_at',
    'sent_at',
    'mined_at',
    'txid',
    'code',
    'address',
    'sats',
  ];
  const lines = payouts.flatMap(({ shares, ...of }) =>
    shares.map(({ code, address, sats }) => [
      of.id,
      of.kind,
      of.state,
      of.askedAt.toISOString(),
      of.sentAt?.toISOString() ?? null,
      of.minedAt?.toISOString() ?? null,
      of.txid,
      code,
      address,
      sats,
    ]),
  );
  return [head, ...lines].map(csvLine).join('');
}

/** Shows what is owed to each code. */
export async function referrals(context: CommandContext): Promise<void> {
  const { flags, print, config } = context;
  await withService(context, async (pool) => {
    const standings = await readReferrals(pool, config.payoutConfirmations, flags['code'] ?? null);
    const shown = standings.map(shownStanding);
    if (flags['csv'] !== undefined)
      await print(
        [[...columns], ...shown.map((of) => columns.map((name) => of[name]))].map(csvLine).join(''),
        'exact',
      );
    else if (flags['json'] !== undefined)
      await print(`${JSON.stringify({ totals: totalsOf(shown), referrals: shown })}\n`);
    else await print(table(shown, flags['code'] ?? null));
  });
}

const columns = [
  'code',
  'address',
  'owed',
  'payable',
  'shallow',
  'dust',
  'homeless',
  'open',
  'paid',
  'debt',
] as const;
const sums = ['owed', 'payable', 'shallow', 'dust', 'homeless', 'open', 'paid', 'debt'] as const;
type Sums = Readonly<Record<(typeof sums)[number], number>>;
type Shown = Sums & { readonly code: string; readonly address: string | null };

const shownStanding = (standing: ReferralStanding): Shown => ({
  code: standing.code,
  address: standing.address,
  owed: Number(standing.owed),
  payable: Number(standing.payable),
  shallow: Number(standing.shallow),
  dust: Number(standing.dust),
  homeless: Number(standing.homeless),
  open: Number(standing.open),
  paid: Number(standing.paid),
  debt: Number(standing.debt),
});

const totalsOf = (shown: readonly Shown[]): Sums => ({
  owed: sumOf(shown, 'owed'),
  payable: sumOf(shown, 'payable'),
  shallow: sumOf(shown, 'shallow'),
  dust: sumOf(shown, 'dust'),
  homeless: sumOf(shown, 'homeless'),
  open: sumOf(shown, 'open'),
  paid: sumOf(shown, 'paid'),
  debt: sumOf(shown, 'debt'),
});

const sumOf = (shown: readonly Shown[], name: keyof Sums): number =>
  shown.reduce((all, of) => all + of[name], 0);

/** 80 columns; the address is below, where it is not shown with the code. */
function table(shown: readonly Shown[], code: string | null): string {
  if (shown.length === 0)
    return `${code === null ? 'no code has earned anything' : `the code ${terminalText(code)} has earned nothing`}: deliveries of orders that name a code do\n`;
  const line = (
    code: string,
    [owed = '', payable = '', shallow = '', dust = '', paid = '', debt = '']: string[],
  ): string =>
    `${code.padEnd(16)} ${[owed, payable, shallow, dust].map((text) => text.padStart(10)).join(' ')} ${paid.padStart(11)} ${debt.padStart(6)}\n`;
  const cells = (of: Sums): string[] =>
    [of.owed, of.payable, of.shallow, of.dust, of.paid, of.debt].map(String);
  const lines = shown.map(
    (of) =>
      `${line(terminalText(of.code), cells(of))}  ${of.address ?? 'no address is registered'}${of.homeless > 0 && of.address !== null ? ', where no payout may go' : ''}${of.open > 0 ? `, ${of.open} sats in payouts under way` : ''}\n`,
  );
  return `${line('CODE', ['OWED', 'PAYABLE', 'NOT DEEP', 'DUST', 'PAID', 'DEBT'])}${lines.join('')}${line('all', cells(totalsOf(shown)))}`;
}

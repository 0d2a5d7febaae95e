import { csvLine } from '#kernel/text/csv.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { readPartners } from '#payouts/asking/ask-payouts.ts';
import { type ListedPayout, listPayouts } from '#payouts/payout/payout.store.ts';
import type { PartnerName, PartnerStanding } from '#payouts/planning/payable.ts';
import type { PartnerAccount } from '#purse/ledger/ledger.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { shownTime, withService } from '#src/commands/service-database.ts';

const limitDefault = 50;
const limitMost = 10_000;

/** Shows payouts, the newest first. */
export async function list(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const limit = Number(flags['limit'] ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMost)
    throw new UsageError(`--limit must be a number from 1 to ${limitMost}`);
  await withService(context, async (pool) => {
    const payouts = await listPayouts(pool, limit);
    if (flags['csv'] !== undefined) await print(payoutsCsv(payouts), 'exact');
    else await print(flags['json'] === undefined ? payoutLines(payouts) : `${JSON.stringify(payouts)}\n`);
  });
}

/** Returns a line for each payout, with the reason why it waits. Its transaction is on the line below. */
export function payoutLines(payouts: readonly ListedPayout[]): string {
  if (payouts.length === 0)
    return 'no payouts; satscribe payouts referrals and satscribe payouts creators show what partners are owed\n';
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

/** Returns a CSV line for each share. */
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

/** The partner that --code or --creator names. `null` if neither flag is given. */
export function wantedPartner({ code, creator }: CommandContext['flags']): PartnerName | null {
  if (code !== undefined) return { account: 'referral', owner: code };
  return creator === undefined ? null : { account: 'creator', owner: creator };
}

/** Words and columns for the debts to one kind of partner. */
interface PartnerWords {
  /** The name of the list in JSON. */
  readonly list: string;
  /** Columns that identify a partner. */
  readonly names: readonly ('code' | 'address')[];
  readonly head: string;
  readonly none: string;
  /** The word for one partner of this kind. */
  readonly noun: string;
  readonly how: string;
}

const wordsOf: Readonly<Record<PartnerAccount, PartnerWords>> = {
  referral: {
    list: 'referrals',
    names: ['code', 'address'],
    head: 'CODE',
    none: 'no code has earned anything',
    noun: 'code',
    how: 'only delivered orders with a referral code earn',
  },
  creator: {
    list: 'creators',
    names: ['address'],
    head: 'CREATOR',
    none: 'no creator has earned anything',
    noun: 'creator',
    how: 'only delivered items of collections earn',
  },
};

/** Shows the debt to each partner of a kind. */
export async function partners(context: CommandContext, account: PartnerAccount): Promise<void> {
  const { flags, print, config } = context;
  const wanted = wantedPartner(flags) ?? { account, owner: null };
  const words = wordsOf[account];
  await withService(context, async (pool) => {
    const standings = await readPartners(pool, config.payoutConfirmations, wanted);
    const shown = standings.map(shownStanding);
    const columns = [...words.names, ...sums];
    if (flags['csv'] !== undefined)
      await print(
        [[...columns], ...shown.map((of) => columns.map((name) => of[name]))].map(csvLine).join(''),
        'exact',
      );
    else if (flags['json'] !== undefined) {
      const rows = shown.map((of) => Object.fromEntries(columns.map((name) => [name, of[name]])));
      await print(`${JSON.stringify({ totals: totalsOf(shown), [words.list]: rows })}\n`);
    } else await print(table(shown, words, wanted.owner));
  });
}

const sums = ['earned', 'owed', 'payable', 'shallow', 'dust', 'homeless', 'open', 'paid', 'debt'] as const;
type Sums = Readonly<Record<(typeof sums)[number], number>>;
type Shown = Sums & { readonly code: string | null; readonly address: string | null };

const sumsOf = (sum: (name: keyof Sums) => number): Sums => ({
  earned: sum('earned'),
  owed: sum('owed'),
  payable: sum('payable'),
  shallow: sum('shallow'),
  dust: sum('dust'),
  homeless: sum('homeless'),
  open: sum('open'),
  paid: sum('paid'),
  debt: sum('debt'),
});

const shownStanding = (standing: PartnerStanding): Shown => ({
  code: standing.account === 'referral' ? standing.owner : null,
  address: standing.address,
  ...sumsOf((name) => Number(standing[name])),
});

const totalsOf = (shown: readonly Shown[]): Sums =>
  sumsOf((name) => shown.reduce((all, of) => all + of[name], 0));

/** A line of the table, with 80 columns. An address does not fit, so it has its own line below. */
const row = (
  name: string,
  [owed = '', payable = '', shallow = '', dust = '', paid = '', debt = '']: readonly string[],
): string =>
  `${name.padEnd(16)} ${[owed, payable, shallow, dust].map((text) => text.padStart(10)).join(' ')} ${paid.padStart(11)} ${debt.padStart(6)}\n`;

function table(
  shown: readonly Shown[],
  { head, none, noun, how }: PartnerWords,
  owner: string | null,
): string {
  if (shown.length === 0)
    return `${owner === null ? none : `the ${noun} ${terminalText(owner)} has earned nothing`}; ${how}\n`;
  const cells = (of: Sums): string[] =>
    [of.owed, of.payable, of.shallow, of.dust, of.paid, of.debt].map(String);
  const lines = shown.map(
    (of) =>
      `${row(terminalText(of.code ?? ''), cells(of))}  ${terminalText(of.address ?? 'no address is registered')}${of.homeless > 0 && of.address !== null ? ', but no payout may go to this address' : ''}${of.open > 0 ? `, ${of.open} sats in unfinished payouts` : ''}\n`,
  );
  return `${row(head, ['OWED', 'PAYABLE', 'NOT DEEP', 'DUST', 'PAID', 'DEBT'])}${lines.join('')}${row('all', cells(totalsOf(shown)))}`;
}

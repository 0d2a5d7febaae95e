import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

const actions: CommandActions = {
  list: { flags: ['json', 'csv', 'limit'], words: 0 },
  referrals: { flags: ['json', 'csv', 'code'], words: 0 },
  creators: { flags: ['json', 'csv', 'creator'], words: 0 },
  revenue: { flags: ['json', 'to', 'sats'], words: 0 },
  send: { flags: ['json', 'code', 'creator', 'dry-run'], words: 0 },
  cancel: { flags: ['json', 'not-paid'], words: 1 },
  held: { flags: ['json'], words: 0 },
  hold: { flags: ['json'], words: 0 },
  release: { flags: ['json', 'yes', 'pay-again'], words: 0 },
};

export const payoutsCommand: Command = {
  name: 'payouts',
  object: null,
  operands: 'list|send|revenue|…',
  actions: Object.keys(actions),
  summary: 'pay shares to partners, and take out revenue',
  details: `Actions:

  referrals  shows what each referral code is owed.
  creators   shows what each address of a creator of collections is owed.
  send       pays everything that can be paid now to codes and creators, or only to --code or --creator.
             Codes with the same address share an output. Codes and creators are paid by separate payouts.
             The operator pays the fee. With --dry-run it only shows what would be paid.
  revenue    shows how much revenue the operator can take out, and why not more. With --to it pays this
             amount, or the amount of --sats, to an address. The fee is paid in addition.
  list       shows the payouts, the newest first.
  cancel     cancels a payout that is not signed.
  held       after a restore: shows the payments that wait, and those of them that the chain has.
  release    after a restore: books the payments that the chain has, and makes the others. It asks first.
  hold       puts payments on hold, as satscribe restore does. After a restore by other means (pg_dump, a copy
             of the disk), run it before the service starts, and before satscribe wallet skip.

referrals and creators show what the next payout pays, what does not yet have PAYOUT_CONFIRMATIONS
confirmations, what is below the dust limit of its address, and what was already paid. A partner has a debt
if a reorganisation took back a delivery that was already paid for.

A running service with the seed signs and sends payouts. send and revenue wait up to a minute for this. If
you interrupt them, the payouts stay as they are (docs/orders-operator.md, "Payouts").

  satscribe payouts referrals
  satscribe payouts creators --csv > creators.csv
  satscribe payouts send --dry-run
  satscribe payouts send --code friend
  satscribe payouts send --creator bc1p…
  satscribe payouts revenue
  satscribe payouts revenue --to bc1q… --sats 250000
  satscribe payouts list --csv > payouts.csv
  satscribe payouts release --yes`,
  flags: [
    jsonFlag,
    ownFlag('csv', null, 'list, referrals, creators: print a table for spreadsheets (RFC 4180)'),
    ownFlag('limit', 'N', 'list: maximum number of payouts, the newest first; unset: 50'),
    ownFlag('code', 'CODE', 'referrals, send: only this code'),
    ownFlag('creator', 'ADDRESS', 'creators, send: only this creator'),
    ownFlag('dry-run', null, 'send: store nothing, and only show what would be paid'),
    ownFlag(
      'to',
      'ADDRESS',
      'revenue: address that receives the revenue; unset: only show what can be taken',
    ),
    ownFlag('sats', 'N', 'revenue: amount to take; unset: all that can be taken'),
    ownFlag('yes', null, 'release: do not ask'),
    ownFlag(
      'pay-again',
      null,
      'release: also if payments may have been made, or are missing in the database',
    ),
    ownFlag('not-paid', null, 'cancel: also while payments are on hold, if held does not name the payout'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runPayouts,
};

async function runPayouts(context: CommandContext): Promise<void> {
  const { flags } = context;
  const action = actionOf(context, 'payouts', actions);
  if (flags['json'] !== undefined && flags['csv'] !== undefined)
    throw new UsageError('--json and --csv exclude each other');
  if (flags['code'] !== undefined && flags['creator'] !== undefined)
    throw new UsageError('--code and --creator exclude each other, because they name two partners');
  // loaded here, so that help and usage errors do not load it
  if (action === 'list') return (await import('./payouts-shown.ts')).list(context);
  if (action === 'referrals' || action === 'creators')
    return (await import('./payouts-shown.ts')).partners(
      context,
      action === 'referrals' ? 'referral' : 'creator',
    );
  if (action === 'held' || action === 'release' || action === 'hold')
    return (await import('./payouts-held.ts'))[action](context);
  return runAsked(action, context);
}

async function runAsked(action: string, context: CommandContext): Promise<void> {
  const asked = await import('./payouts-asked.ts');
  if (action === 'send') return asked.send(context);
  return action === 'revenue' ? asked.revenue(context) : asked.cancel(context, context.words[1]);
}

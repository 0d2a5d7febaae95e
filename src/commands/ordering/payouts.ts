import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const payoutsCommand: Command = {
  name: 'payouts',
  object: null,
  operands: 'list|send|revenue|…',
  summary: 'pay partners their shares, and take revenue out',
  details: `referrals shows the debt to each code, creators the debt to each address of a creator of
collections: the part that the next payout pays, the part that is not deep enough yet (PAYOUT_CONFIRMATIONS),
and the part below the dust limit of its address; payments so far; and debts of partners, if a reorganisation
took back a delivery that was already paid for. send pays everything that can be paid to both, or only to
--code or --creator: codes with one address share an output, codes and creators have payouts of their own, and
the operator pays the fee. With --dry-run it shows what it would pay. revenue shows what the operator can take
out, and why not more; with --to it takes that: all of it, or --sats. The fee is extra. A running service with
the seed signs and sends; send and revenue wait for it for a minute, and ending them changes nothing. list
shows payouts, the newest first. cancel ends one that is not signed (docs/orders-operator.md, "Payouts").

  satscribe payouts referrals
  satscribe payouts creators --csv > creators.csv
  satscribe payouts send --dry-run
  satscribe payouts send --code friend
  satscribe payouts send --creator bc1p…
  satscribe payouts revenue
  satscribe payouts revenue --to bc1q… --sats 250000
  satscribe payouts list --csv > payouts.csv`,
  flags: [
    jsonFlag,
    ownFlag('csv', null, 'list, referrals, creators: print a table for spreadsheets (RFC 4180)'),
    ownFlag('limit', 'N', 'list: at most this many, the newest first; unset: 50'),
    ownFlag('code', 'CODE', 'referrals, send: only this code'),
    ownFlag('creator', 'ADDRESS', 'creators, send: only this creator'),
    ownFlag('dry-run', null, 'send: store nothing, and show what would be paid'),
    ownFlag('to', 'ADDRESS', 'revenue: where it goes; unset: only show what can be taken'),
    ownFlag('sats', 'N', 'revenue: how much; unset: all that can be taken'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runPayouts,
};

const actions: CommandActions = {
  list: { flags: ['json', 'csv', 'limit'], words: 0 },
  referrals: { flags: ['json', 'csv', 'code'], words: 0 },
  creators: { flags: ['json', 'csv', 'creator'], words: 0 },
  revenue: { flags: ['json', 'to', 'sats'], words: 0 },
  send: { flags: ['json', 'code', 'creator', 'dry-run'], words: 0 },
  cancel: { flags: ['json'], words: 1 },
};

async function runPayouts(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  const action = actionOf(context, 'payouts', actions);
  if (flags['json'] !== undefined && flags['csv'] !== undefined)
    throw new UsageError('--json and --csv are two forms: name one');
  if (flags['code'] !== undefined && flags['creator'] !== undefined)
    throw new UsageError('--code and --creator are two partners: name one');
  // loaded here, so that help and usage errors do not load it
  if (action === 'list') return (await import('./payouts-shown.ts')).list(context);
  if (action === 'referrals' || action === 'creators')
    return (await import('./payouts-shown.ts')).partners(
      context,
      action === 'referrals' ? 'referral' : 'creator',
    );
  const asked = await import('./payouts-asked.ts');
  if (action === 'send') return asked.send(context);
  return action === 'revenue' ? asked.revenue(context) : asked.cancel(context, words[1]);
}

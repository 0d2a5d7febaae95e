import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const tokenpayCommand: Command = {
  name: 'tokenpay',
  object: null,
  operands: 'orders|balances|withdrawals|…',
  summary: 'orders, balances and withdrawals of shops',
  details: `orders shows the newest orders of shops: their states, what their charges lack, and each output
that arrived, with --aside only orders with an output that was set aside. balances shows what each account
holds of each token, and what is set aside for it. An output with an inscription or a special sat is set
aside: nothing of it is credited, and nothing spends it. credit makes it money: its account gets all of its
sats and runes, and its charge counts it. What is in it may then be spent as any other sat. return sends it to
an address, as a whole with all that is in it; a running service with the seed signs and sends it, and the
operator pays the fee. With --dry-run nothing is stored. satscribe payouts list shows it, and payouts cancel
ends one that is not signed. Payments that come late, too much, or in another token are credited by
themselves, so they need no decision. Each output is decided once, with a reason (docs/tokenpay.md, "For
operators"). withdrawals lists what accounts take out, shows one, and cancels one of which nothing was signed.
addresses shows to which addresses accounts withdraw, and changes that with --allow and --forbid: an account
without one withdraws to any, so the last one needs --any as well. Withdrawals to an address that is forbidden
wait unsigned.

  satscribe tokenpay orders --state pending
  satscribe tokenpay orders --aside
  satscribe tokenpay balances --account shop
  satscribe tokenpay credit 3f…c1:0 --reason "The shop does not want the inscription."
  satscribe tokenpay return 3f…c1:0 --to bc1p… --reason "Its customer asked for it." --dry-run
  satscribe tokenpay withdrawals --state processing
  satscribe tokenpay withdrawals cancel 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11 --reason "The shop asked for it."
  satscribe tokenpay addresses --account shop --allow bc1q…`,
  flags: [
    jsonFlag,
    ownFlag('state', 'STATE', 'orders, withdrawals: only those in this state'),
    ownFlag('account', 'NAME', 'orders, balances, withdrawals, addresses: only of this account'),
    ownFlag('aside', null, 'orders: only those with an output that was set aside'),
    ownFlag('limit', 'N', 'orders, withdrawals: at most this many, the newest first; unset: 50'),
    ownFlag('reason', 'TEXT', 'credit, return, withdrawals cancel: the reason, stored with the decision'),
    ownFlag('by', 'NAME', 'credit, return: who decides; unset: the user of the system'),
    ownFlag('allow', 'ADDRESS', 'addresses: the account may withdraw to it'),
    ownFlag('forbid', 'ADDRESS', 'addresses: the account may no longer withdraw to it'),
    ownFlag('any', null, 'addresses: with --forbid of the last one: after that the account withdraws to any'),
    ownFlag('to', 'ADDRESS', 'return: where it goes'),
    ownFlag(
      'fee-rate',
      'RATE',
      "return: sats for a virtual byte, from 0.001 to 200; unset: the node's estimate",
    ),
    ownFlag('dry-run', null, 'return: store nothing, and show what would be sent'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runTokenpay,
};

const actions: CommandActions = {
  orders: { flags: ['json', 'state', 'account', 'aside', 'limit'], words: 0 },
  balances: { flags: ['json', 'account'], words: 0 },
  credit: { flags: ['json', 'reason', 'by'], words: 1 },
  withdrawals: { flags: ['json', 'state', 'account', 'limit', 'reason'], words: 2 },
  addresses: { flags: ['json', 'account', 'allow', 'forbid', 'any'], words: 0 },
  return: { flags: ['json', 'reason', 'by', 'to', 'fee-rate', 'dry-run'], words: 1 },
};

async function runTokenpay(context: CommandContext): Promise<void> {
  const action = actionOf(context, 'tokenpay', actions);
  // loaded here, so that help and usage errors do not load it
  if (action === 'orders') return (await import('./tokenpay-shown.ts')).orders(context);
  if (action === 'balances') return (await import('./tokenpay-shown.ts')).balances(context);
  if (action === 'withdrawals') return (await import('./tokenpay-withdrawals.ts')).withdrawals(context);
  if (action === 'addresses') return (await import('./tokenpay-withdrawals.ts')).addresses(context);
  const [, outpoint] = context.words;
  if (outpoint === undefined)
    throw new UsageError(
      `which output? satscribe tokenpay ${action} <txid>:<vout>; satscribe tokenpay orders --aside shows them`,
    );
  const decided = await import('./tokenpay-decided.ts');
  return action === 'credit' ? decided.credit(context, outpoint) : decided.sendAway(context, outpoint);
}

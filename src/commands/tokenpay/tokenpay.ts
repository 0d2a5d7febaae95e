import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

const actions: CommandActions = {
  orders: { flags: ['json', 'state', 'account', 'aside', 'limit'], words: 0 },
  balances: { flags: ['json', 'account'], words: 0 },
  credit: { flags: ['json', 'reason', 'by'], words: 1 },
  withdrawals: { flags: ['json', 'state', 'account', 'limit', 'reason', 'not-paid'], words: 2 },
  addresses: { flags: ['json', 'account', 'allow', 'forbid', 'any'], words: 0 },
  return: { flags: ['json', 'reason', 'by', 'to', 'fee-rate', 'dry-run'], words: 1 },
};

export const tokenpayCommand: Command = {
  name: 'tokenpay',
  object: null,
  operands: 'orders|balances|withdrawals|…',
  actions: Object.keys(actions),
  summary: 'orders, balances and withdrawals of shops',
  details: `Actions:

  orders       shows the newest orders of shops: their states, what their charges lack, and each output that
               arrived. With --aside it shows only orders with an output that was set aside.
  balances     shows what each account holds of each token, and what is set aside for the account.
  credit       credits an output that was set aside. The account gets all sats and runes of the output, and
               the charge counts them. The output may then be spent like any other, with its inscriptions
               and special sats.
  return       sends an output that was set aside, with everything in it, to an address. A running service
               with the seed signs and sends the transaction, and the operator pays the fee. With --dry-run
               nothing is stored. satscribe payouts list shows the return, and satscribe payouts cancel
               cancels a return that is not signed.
  withdrawals  lists the withdrawals of accounts, shows one, or cancels one that has no signed transaction.
  addresses    shows to which addresses accounts may withdraw, and changes them with --allow and --forbid.
               An account without such an address may withdraw to any address, so --forbid of the last one
               also needs --any. Withdrawals to a forbidden address wait unsigned.

An output with an inscription or a special sat is set aside: it is neither credited nor spent. Payments that
are late, too large, or in another token are credited automatically and need no decision. Only one decision
is possible for each output that was set aside, and it needs a reason (docs/tokenpay.md, "For operators").

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
    ownFlag('limit', 'N', 'orders, withdrawals: maximum number, the newest first; unset: 50'),
    ownFlag(
      'reason',
      'TEXT',
      'credit, return, withdrawals cancel: reason, which is stored with the decision',
    ),
    ownFlag(
      'not-paid',
      null,
      'withdrawals cancel: also while payments are on hold, if satscribe payouts held does not name it',
    ),
    ownFlag('by', 'NAME', 'credit, return: person who decides; unset: the user name of the system'),
    ownFlag('allow', 'ADDRESS', 'addresses: allow the account to withdraw to this address'),
    ownFlag('forbid', 'ADDRESS', 'addresses: no longer allow the account to withdraw to this address'),
    ownFlag(
      'any',
      null,
      'addresses: allow --forbid of the last address; the account may then withdraw to any address',
    ),
    ownFlag('to', 'ADDRESS', 'return: address that receives the output'),
    ownFlag(
      'fee-rate',
      'RATE',
      "return: sats per virtual byte, from 0.001 to 200; unset: the node's estimate",
    ),
    ownFlag('dry-run', null, 'return: store nothing, and only show what would be sent'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runTokenpay,
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
      `missing output; use satscribe tokenpay ${action} <txid>:<vout>, and satscribe tokenpay orders --aside for the outputs`,
    );
  const decided = await import('./tokenpay-decided.ts');
  return action === 'credit' ? decided.credit(context, outpoint) : decided.sendAway(context, outpoint);
}

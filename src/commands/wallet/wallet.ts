import type { Command, CommandContext } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

const actions: CommandActions = {
  init: { flags: ['first-index', 'json'], words: 0 },
  show: { flags: ['json'], words: 0 },
  skip: { flags: ['by', 'json'], words: 0 },
  descriptors: { flags: ['json'], words: 0 },
  fund: { flags: ['json'], words: 0 },
  coins: { flags: ['held', 'json'], words: 0 },
  kit: { flags: ['reveal', 'parent', 'fees-index', 'json'], words: 1 },
  recover: { flags: ['to', 'fee-rate', 'broadcast', 'json'], words: 1 },
  restore: { flags: ['to', 'fee-rate', 'broadcast', 'gap', 'without-database', 'json'], words: 0 },
};

export const walletCommand: Command = {
  name: 'wallet',
  object: null,
  operands: 'init|show|fund|restore|…',
  actions: Object.keys(actions),
  summary: 'make and show the wallet of orders, and take back payments',
  details: `Actions:

  init         makes the seed file and stores its public key in the database. It shows the words of the seed
               once, and never overwrites a file.
  show         shows what the database knows about the wallet. Nothing of this is secret.
  skip         continues with addresses that were never shown, if the mark file is lost.
  descriptors  prints the addresses for a watch-only wallet of Bitcoin Core. With --json it prints the
               argument of importdescriptors.
  fund         prints an address to which the operator sends coins for the costs of orders, and lists the
               coins that are there.
  coins        lists all coins and their sums, with the holder of each coin and the reason.
  kit          prints the recovery kit of an order. With --fees-index it prints the kit of a fee charge.
  recover      takes back the outputs at the address of a kit. It prints the signed transaction, or sends it
               with --broadcast. It needs the seed file and a node, but no database (docs/wallet.md).
  restore      lists all unspent outputs of the seed, even after gaps in the addresses. It needs a node.
               With --to it signs transactions that send these outputs to an address. It prints the
               transactions, or sends them with --broadcast. Without the database it does not find addresses
               with a leaf.

  satscribe wallet init --seed-file /etc/satscribe/wallet.seed --network mainnet
  satscribe wallet show
  satscribe wallet descriptors --json
  satscribe wallet fund
  satscribe wallet coins --held free
  satscribe wallet kit 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11 > kit.json
  satscribe wallet recover kit.json --to bc1q… --fee-rate 2.5
  satscribe wallet restore --without-database --network mainnet`,
  flags: [
    ownFlag(
      'first-index',
      'N',
      'init: first index of the keys to use, for an existing seed file without its mark file',
    ),
    ownFlag(
      'by',
      'N',
      'skip: number of indices to skip; unset: 1000000, which is the minimum if the mark file is lost',
    ),
    ownFlag(
      'held',
      'HOLDER',
      'coins: free, reserved, waiting, aside, accounts or spent; unset: all but spent',
    ),
    ownFlag(
      'reveal',
      'N',
      'kit: of the commit output of the reveal with this number, from 0 on; unset: of the charge',
    ),
    ownFlag('parent', 'N', 'kit: of the deposit address of the parent with this number, from 0 on'),
    ownFlag('fees-index', 'N', 'kit: of the address with this index for a fee charge, instead of an order'),
    ownFlag('to', 'ADDRESS', 'recover, restore: address that receives the money'),
    ownFlag('fee-rate', 'RATE', 'recover, restore: sats per virtual byte, with at most three decimals'),
    ownFlag('broadcast', null, 'recover, restore: send the transactions to the network'),
    ownFlag(
      'gap',
      'N',
      'restore: number of indices without an output after which the search ends; unset: 1000 beyond the mark, 1200000 without a mark',
    ),
    ownFlag('without-database', null, 'restore: search with only the seed, the mark and the node'),
    jsonFlag,
    settingFlag('walletSeedFile', 'FILE'),
    settingFlag('walletMarkFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runWallet,
};

async function runWallet(context: CommandContext): Promise<void> {
  return runAction(actionOf(context, 'wallet', actions), context, context.words[1]);
}

async function runAction(action: string, context: CommandContext, word: string | undefined): Promise<void> {
  // loaded here, so that help and usage errors do not load it
  if (action === 'recover') return (await import('./wallet-recover.ts')).recover(context, word);
  if (action === 'restore') return (await import('./wallet-restore.ts')).restore(context);
  if (action === 'fund') return (await import('./wallet-fund.ts')).fund(context);
  if (action === 'coins') return (await import('./wallet-coins.ts')).coins(context);
  const made = await import('./wallet-actions.ts');
  if (action === 'kit') return made.kit(context, word);
  if (action === 'init') return made.init(context);
  if (action === 'skip') return made.skip(context);
  return action === 'show' ? made.show(context) : made.descriptors(context);
}

import type { Command, CommandContext } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const walletCommand: Command = {
  name: 'wallet',
  object: null,
  operands: 'init|show|fund|restore|…',
  summary: 'make and show the wallet of orders, and take payments back',
  details: `init makes the seed file and stores its public key in the database; it shows the words of the seed
once, and writes over no file. show prints what the database knows of the wallet: nothing secret. skip
moves on to addresses that were never shown, if the mark file is lost. descriptors prints the addresses
for a watching wallet of Bitcoin Core; its JSON is what importdescriptors takes. fund prints an address at
which the operator adds coins for what orders cost the service, and those that are there. coins lists all
coins, who holds each and why, and their sums. kit prints the recovery kit of an order, or with
--fees-index that of a fee charge. recover takes back what is at the address of a kit: it prints the
signed transaction, or sends it with --broadcast. It needs the seed file and a node, and no database
(docs/wallet.md). restore lists all unspent outputs of the seed, which it finds with a node, beyond gaps.
With --to it signs transactions that send them there, and prints these, or sends them with --broadcast.
Without the database it finds no address with a leaf.

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
      'init: hand out keys from this index on: for a seed file that exists already, without its mark file',
    ),
    ownFlag(
      'by',
      'N',
      'skip: how many indices are skipped; unset: 1000000, the fewest without the mark file',
    ),
    ownFlag(
      'held',
      'HOLDER',
      'coins: free, reserved, waiting, aside, accounts or spent; unset: all but spent',
    ),
    ownFlag('reveal', 'N', 'kit: of the commit output for this reveal, from 0 on; unset: of the charge'),
    ownFlag('parent', 'N', 'kit: of the deposit address of this parent, from 0 on'),
    ownFlag('fees-index', 'N', 'kit: of the address with this index for a fee charge, in place of an order'),
    ownFlag('to', 'ADDRESS', 'recover, restore: where the money goes'),
    ownFlag('fee-rate', 'RATE', 'recover, restore: sats per virtual byte, at most three decimals'),
    ownFlag('broadcast', null, 'recover, restore: send the transactions'),
    ownFlag(
      'gap',
      'N',
      'restore: indices without an output after which the search ends; unset: 1000 beyond the mark, 1200000 without one',
    ),
    ownFlag('without-database', null, 'restore: search with only the seed, its mark and the node'),
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

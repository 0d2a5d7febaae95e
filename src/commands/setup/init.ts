import type { SettingName } from '#config/config.ts';
import {
  type Command,
  type CommandContext,
  type GivenSettings,
  UsageError,
} from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const initCommand: Command = {
  name: 'init',
  object: null,
  summary: 'ask for the settings, try them, and write the file .env',
  details: `Asks one question after another on a terminal: network, node, database, ports, searches, index, orders.
Tries the node and the database, and says what it found. Writes .env into the working folder, readable for
its owner alone, and makes the wallet if you want one. An earlier .env is kept as a copy, and settings in it
that are not asked for stay. Ctrl-C before the end leaves nothing behind.

Without a terminal, and with --yes or --json, the flags are the answers. Needed are --network, --node,
--cookie-file, --data and either --seed-file or --no-orders. Other answers come from the environment:
BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD in place of a cookie file, DATABASE_URL in place of --data,
DATABASE_READER_URL, PUBLIC_URL, TRUST_PROXY, SEARCH_ACCESS, SEARCH_ALLOWED_DOMAINS, FILES_DIR.

  satscribe init
  satscribe init --yes --network signet --node http://127.0.0.1:38332 \\
    --cookie-file ~/.bitcoin/signet/.cookie --data ./data --seed-file ./wallet.seed --make-wallet`,
  flags: [
    ownFlag('yes', null, 'ask nothing: the flags and the environment are the answers'),
    ownFlag('force', null, 'replace an earlier .env without a question; a copy of it is kept'),
    ownFlag('no-orders', null, 'take no orders'),
    ownFlag('make-wallet', null, 'make the wallet of --seed-file, as satscribe wallet init does'),
    ownFlag('without-checks', null, 'do not try the node and the database, which may be started later'),
    jsonFlag,
    settingFlag('network', 'NAME'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    settingFlag('indexAddresses', null),
    settingFlag('indexSats', null),
    settingFlag('walletSeedFile', 'FILE'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: (given) => {
    checkFlags(given);
    if (!asksQuestions(given.flags)) requireAnswers(given);
    return { settings: given.settings, defaults: { logLevel: 'warn' } };
  },
  run: runInit,
};

/** Whether there is a person to ask. */
const asksQuestions = (flags: GivenSettings['flags']): boolean =>
  flags['yes'] === undefined && flags['json'] === undefined && process.stdin.isTTY && process.stdout.isTTY;

function checkFlags({ flags, settings }: GivenSettings): void {
  const takesNoOrders = flags['no-orders'] !== undefined;
  if (takesNoOrders && settings.walletSeedFile !== undefined)
    throw new UsageError('--no-orders and --seed-file exclude each other: a wallet is only for orders');
  if (takesNoOrders && flags['make-wallet'] !== undefined)
    throw new UsageError('--no-orders and --make-wallet exclude each other: a wallet is only for orders');
}

/** Answers without which no service can be set up, each with the settings that give it. */
const neededAnswers: readonly { readonly settings: readonly SettingName[]; readonly named: string }[] = [
  { settings: ['network'], named: '--network NAME' },
  { settings: ['bitcoinRpcUrl'], named: '--node URL' },
  {
    settings: ['bitcoinCookieFile', 'bitcoinRpcUser'],
    named: '--cookie-file FILE (or BITCOIN_RPC_USER and BITCOIN_RPC_PASSWORD)',
  },
  { settings: ['dataDir', 'databaseUrl'], named: '--data DIR (or DATABASE_URL)' },
  { settings: ['walletSeedFile'], named: '--seed-file FILE or --no-orders' },
];

const variableOf = (name: SettingName): string =>
  name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase();

/** Throws a UsageError that names all missing answers. */
function requireAnswers({ flags, settings, env }: GivenSettings): void {
  const isGiven = (name: SettingName): boolean =>
    settings[name] !== undefined || (env[variableOf(name)] ?? '') !== '';
  const missing = neededAnswers
    .filter((answer) => !answer.settings.some(isGiven))
    .filter(({ settings: [first] }) => first !== 'walletSeedFile' || flags['no-orders'] === undefined)
    .map(({ named }) => named);
  if (missing.length === 0) return;
  const why =
    flags['yes'] === undefined && flags['json'] === undefined
      ? 'there is no terminal to ask on'
      : 'nothing is asked';
  throw new UsageError(`${why}, and these answers are missing: ${missing.join(', ')}; nothing was written`);
}

async function runInit(context: CommandContext): Promise<void> {
  // loaded here, so that help and usage errors do not load it
  const { setUp } = await import('./set-up.ts');
  await setUp(context, asksQuestions(context.flags));
}

import { resolve } from 'node:path';
import { type Config, loadConfig } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import { type NetworkName, networkNames } from '#kernel/primitives/network.ts';
import { type Answers, type AskedSetting, environmentOf, faultOf } from '#src/app/setup/env-file.ts';
import { networkOfNode, usualNode } from '#src/app/setup/find-node.ts';
import { foundNodeLines, type TriedNode, tryDatabase, tryNode } from '#src/app/setup/try-servers.ts';
import { sentence } from '#src/commands/sentence.ts';
import type { Asking } from './asking.ts';

/** The answers of a person. */
export interface Asked {
  readonly answers: Answers;
  /** Null: the person kept a node that does not answer. */
  readonly node: TriedNode | null;
  readonly makesWallet: boolean;
}

/** The answers so far; each new one is checked together with them. */
class Draft {
  readonly #asking: Asking;
  #answers: Answers;

  constructor(asking: Asking, answers: Answers) {
    this.#asking = asking;
    this.#answers = answers;
  }

  get answers(): Answers {
    return this.#answers;
  }

  set(name: AskedSetting, text: string | null): void {
    this.#answers = this.with(name, text);
  }

  with(name: AskedSetting, text: string | null): Answers {
    const { [name]: _, ...others } = this.#answers;
    return text === null || text === '' ? others : { ...others, [name]: text };
  }

  /** Asks for a setting. An empty answer unsets it. */
  async ask(
    name: AskedSetting,
    text: string,
    usual: string,
    check: (answer: string) => string | null = () => null,
    isSecret = false,
  ): Promise<string> {
    const answer = await this.#asking.ask({
      text,
      usual,
      isSecret,
      check: (given) => check(given) ?? faultOf(this.with(name, given)),
    });
    this.set(name, answer);
    return answer;
  }
}

const required = (answer: string): string | null => (answer === '' ? 'An answer is needed here.' : null);

/** Asks all questions. `known` has the usual answers: from flags, the environment and an earlier file. */
export async function askSettings(
  asking: Asking,
  known: Answers,
  hasSeedFile: (path: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Asked> {
  const draft = new Draft(asking, known);
  asking.say(
    'Enter takes the answer in brackets, "none" leaves a setting unset, and Ctrl-C ends without a file.\n',
  );
  const node = await askNode(asking, draft, signal);
  await askDatabase(asking, draft);
  await askReach(draft);
  await askSearches(draft);
  await askIndex(asking, draft);
  const makesWallet = await askOrders(asking, draft, hasSeedFile);
  return { answers: draft.answers, node, makesWallet };
}

async function askNode(asking: Asking, draft: Draft, signal: AbortSignal): Promise<TriedNode | null> {
  const before = draft.answers;
  const network = (await draft.ask(
    'network',
    `Network: ${networkNames.join(', ')}`,
    before.network ?? (await networkOfNode()) ?? 'mainnet',
    required,
  )) as NetworkName;
  const usual = await usualNode(network);
  // do not suggest the earlier address if it is for another network
  const isSame = before.network === network;
  for (;;) {
    const { bitcoinRpcUrl, bitcoinCookieFile } = draft.answers;
    await draft.ask(
      'bitcoinRpcUrl',
      'Address of the node (bitcoind, JSON-RPC)',
      isSame || bitcoinRpcUrl !== before.bitcoinRpcUrl ? (bitcoinRpcUrl ?? usual.rpcUrl) : usual.rpcUrl,
      required,
    );
    await askCredentials(asking, draft, isSame ? (bitcoinCookieFile ?? usual.cookieFile) : usual.cookieFile);
    const node = await triedNode(asking, draft.answers, signal);
    if (node !== null) return node;
    if (
      await asking.confirm('Keep these answers all the same, although the node did not answer them?', false)
    )
      return null;
  }
}

/** Asks for a cookie file, or else for a user and a password. */
async function askCredentials(asking: Asking, draft: Draft, usualCookie: string): Promise<void> {
  const { bitcoinRpcUser, bitcoinRpcPassword = '' } = draft.answers;
  draft.set('bitcoinRpcUser', null);
  draft.set('bitcoinRpcPassword', null);
  const cookie = await draft.ask(
    'bitcoinCookieFile',
    'Cookie file of the node ("none": a user and a password)',
    bitcoinRpcUser === undefined ? usualCookie : '',
  );
  if (cookie !== '') return;
  const user = await asking.ask({ text: 'User of the node', usual: bitcoinRpcUser ?? '', check: required });
  const password = await asking.ask({
    text: 'Password of that user (not shown)',
    usual: bitcoinRpcPassword,
    isSecret: true,
    check: (given) =>
      required(given) ?? faultOf({ ...draft.with('bitcoinRpcUser', user), bitcoinRpcPassword: given }),
  });
  draft.set('bitcoinRpcUser', user);
  draft.set('bitcoinRpcPassword', password);
}

/** The settings of these answers. They were checked. */
export const settingsOf = (answers: Answers): Config => loadConfig({ env: environmentOf(answers) });

/** Null: the node was not reached, and the person was told why. */
async function triedNode(asking: Asking, answers: Answers, signal: AbortSignal): Promise<TriedNode | null> {
  asking.say('  Asking the node …');
  try {
    const node = await tryNode(settingsOf(answers), signal);
    for (const line of foundNodeLines(node)) asking.say(`  ${line}`);
    return node;
  } catch (error) {
    signal.throwIfAborted();
    asking.say(`  ${reasonOf(error)}`);
    return null;
  }
}

/** A failure and what to do about it. Throws any error that is not an operating failure. */
function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) throw error;
  return `${sentence(error.message)} ${errorCodes[error.code].action}`;
}

async function askDatabase(asking: Asking, draft: Draft): Promise<void> {
  const { databaseReaderUrl = '' } = draft.answers;
  draft.set('databaseReaderUrl', null);
  for (;;) {
    const url = await draft.ask(
      'databaseUrl',
      'Database: "none" for the Postgres that comes with Satscribe, or the address of yours, postgres://user:password@host/database',
      draft.answers.databaseUrl ?? '',
    );
    if (url === '') {
      await draft.ask('dataDir', 'Folder of the data', draft.answers.dataDir ?? './data', required);
      return;
    }
    try {
      await tryDatabase(url);
      asking.say('  The database answers.');
      break;
    } catch (error) {
      asking.say(`  ${reasonOf(error)}`);
    }
    if (await asking.confirm('Keep this database all the same, although it cannot be used now?', false))
      break;
  }
  await draft.ask(
    'databaseReaderUrl',
    'The same database with a user that only reads (docs/install.md, "Two roles of the database")',
    databaseReaderUrl,
  );
  await draft.ask('dataDir', 'Folder of other data', draft.answers.dataDir ?? './data', required);
}

async function askReach(draft: Draft): Promise<void> {
  const { port = '7700', host = '127.0.0.1', publicUrl = '', trustProxy } = draft.answers;
  await draft.ask('port', 'Port', port, required);
  await draft.ask('host', 'Address to listen on; 127.0.0.1 is this machine alone', host, required);
  const url = await draft.ask(
    'publicUrl',
    'Public address of the pages behind a proxy, such as https://ord.example.com',
    publicUrl,
  );
  if (url === '') return draft.set('trustProxy', null);
  await draft.ask(
    'trustProxy',
    'Proxies that name the client in X-Forwarded-For: addresses, networks, or loopback',
    trustProxy ?? 'loopback',
  );
}

async function askSearches(draft: Draft): Promise<void> {
  const { searchAccess = 'restricted', searchAllowedDomains = '' } = draft.answers;
  // this mode and a list of domains exclude each other
  if (searchAccess !== 'restricted') draft.set('searchAllowedDomains', null);
  const access = await draft.ask(
    'searchAccess',
    'Who may search: restricted (our pages, keys, listed domains), keys, or open (everyone)',
    searchAccess,
    (given) => (given === 'keys' ? null : required(given)),
  );
  if (access !== 'restricted') return draft.set('searchAllowedDomains', null);
  await draft.ask(
    'searchAllowedDomains',
    'Domains whose pages may search without a key, such as example.com, separated by commas',
    searchAllowedDomains,
  );
}

async function askIndex(asking: Asking, draft: Draft): Promise<void> {
  asking.say(`
The index options are fixed with the first block: to change one, index again into a new database.
- Addresses: all unspent outputs of any address. Every output gets a row, from block 0 on: the dearest option.
- Sats: the sats of every unspent output, as ord --index-sats. From block 0 on: a first sync takes about twice as long.`);
  const { indexAddresses, indexSats } = draft.answers;
  draft.set('indexAddresses', String(await asking.confirm('Index addresses?', indexAddresses === 'true')));
  draft.set('indexSats', String(await asking.confirm('Index sats?', indexSats === 'true')));
}

/** Returns whether a wallet is wanted now. */
async function askOrders(
  asking: Asking,
  draft: Draft,
  hasSeedFile: (path: string) => Promise<boolean>,
): Promise<boolean> {
  const { walletSeedFile, filesDir = '' } = draft.answers;
  if (
    !(await asking.confirm('Take orders for inscriptions? They need a wallet.', walletSeedFile !== undefined))
  ) {
    draft.set('walletSeedFile', null);
    draft.set('filesDir', null);
    return false;
  }
  const seedFile = await draft.ask(
    'walletSeedFile',
    'File of the seed of the wallet, in a folder that exists',
    walletSeedFile ?? resolve('wallet.seed'),
    required,
  );
  await draft.ask('filesDir', "Folder of customers' files; none: files in the folder of the data", filesDir);
  if (await hasSeedFile(seedFile)) {
    asking.say('  There is a seed file already: `satscribe wallet init` brings it into a new database.');
    return false;
  }
  return asking.confirm('Make the wallet now? Its 24 words are shown once: have paper ready.', true);
}

import { lstat } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { type Config, loadConfig } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { migrateServer, openServer } from '#src/app/database/database.ts';
import {
  type Answers,
  askedNames,
  type ChangedSetting,
  changesOf,
  envFileText,
  faultOf,
  keptVariables,
} from '#src/app/setup/env-file.ts';
import { foundNodeLines, type TriedNode, tryDatabase, tryNode } from '#src/app/setup/try-servers.ts';
import { readEarlierFile, writeEnvFile } from '#src/app/setup/write-env-file.ts';
import { init as makeWallet } from '#src/commands/wallet/wallet-actions.ts';
import { type Asked, askSettings } from './ask-settings.ts';
import { type Asking, openAsking } from './asking.ts';

/** The file that every command reads in its working folder. */
const envFile = '.env';

/** Asks, or takes the flags; writes the file; makes the wallet; prints what to do next. */
export async function setUp(context: CommandContext, asksQuestions: boolean): Promise<void> {
  const earlier = await readEarlierFile(envFile);
  const planned = await context.lifecycle.run('questions', (signal) =>
    asksQuestions ? planWithPerson(context, earlier, signal) : planFromFlags(context, earlier, signal),
  );
  const copy = planned.isWritten ? await writeEnvFile(envFile, planned.text, earlier) : null;
  const isJson = context.flags['json'] !== undefined;
  if (!isJson) await context.print(writtenLines(planned, copy));
  const wallet = planned.asked.makesWallet ? await walletOf(context, planned.config, isJson) : null;
  const steps = nextSteps(planned.asked);
  if (isJson) await context.print(`${JSON.stringify(resultJson(planned, copy, wallet, steps))}\n`);
  else
    await context.print(`\nNext:\n${steps.map(({ run, why }) => `  ${run.padEnd(24)}  ${why}\n`).join('')}`);
}

interface Planned {
  readonly asked: Asked;
  readonly text: string;
  /** The settings that the file gives. */
  readonly config: Config;
  readonly changes: readonly ChangedSetting[];
  /** False: the earlier file has the same settings. */
  readonly isWritten: boolean;
}

async function planWithPerson(
  context: CommandContext,
  earlier: string | null,
  signal: AbortSignal,
): Promise<Planned> {
  const asking = openAsking({
    input: process.stdin,
    output: process.stdout,
    signal,
    onInterrupt: () => process.kill(process.pid, 'SIGINT'),
  });
  try {
    const asked = await askSettings(asking, knownAnswers(context), exists, signal);
    const planned = planFile(asked, earlier);
    if (earlier !== null && planned.isWritten) await confirmReplacing(context, asking, planned.changes);
    return planned;
  } finally {
    asking.close();
  }
}

async function confirmReplacing(
  { flags }: CommandContext,
  asking: Asking,
  changes: readonly ChangedSetting[],
): Promise<void> {
  asking.say(`\nThere is a file ${envFile} already. These settings would change:\n${changeLines(changes)}`);
  if (flags['force'] !== undefined) return;
  if (await asking.confirm(`Replace ${envFile}? A copy of the earlier one is kept.`, false)) return;
  throw new AppError('not_confirmed', `${envFile} is as it was.`);
}

/** The flags and the environment are the answers. */
async function planFromFlags(
  context: CommandContext,
  earlier: string | null,
  signal: AbortSignal,
): Promise<Planned> {
  const { flags, config } = context;
  const answers = knownAnswers(context);
  if (flags['make-wallet'] !== undefined && answers.walletSeedFile === undefined)
    throw new UsageError('--make-wallet needs --seed-file FILE: the file that the wallet gets');
  const fault = faultOf(answers);
  if (fault !== null) throw new UsageError(fault);
  const isTried = flags['without-checks'] === undefined;
  const node = isTried ? await tryNode(config, signal) : null;
  if (isTried && config.databaseUrl !== undefined) await tryDatabase(config.databaseUrl);
  const planned = planFile({ answers, node, makesWallet: flags['make-wallet'] !== undefined }, earlier);
  if (earlier !== null && planned.isWritten && flags['force'] === undefined)
    throw new UsageError(
      `there is a file ${envFile} already, and these settings would change; --force replaces it and keeps a copy:\n${changeLines(planned.changes)}`,
    );
  return planned;
}

/** The file with these answers. Throws if it would lose anything of an earlier one. */
function planFile(asked: Asked, earlier: string | null): Planned {
  const { values, lost } = keptVariables(earlier ?? '');
  if (lost.length > 0)
    throw new UsageError(
      `${envFile} has values that a new file cannot hold (${lost.join(', ')}): edit the file yourself; docs/configuration.md has all settings`,
    );
  const text = envFileText(asked.answers, values);
  const changes = changesOf(earlier ?? '', asked.answers);
  // settings that are not asked for stay, and may contradict the new ones
  const config = loadConfig({ env: parseEnv(text), defaults: { logLevel: 'warn' } });
  return { asked, text, config, changes, isWritten: earlier === null || changes.length > 0 };
}

/** The answers so far: from flags, the environment, an earlier file, and defaults. */
function knownAnswers({ config, flags }: CommandContext): Answers {
  const takesNoOrders = flags['no-orders'] !== undefined;
  const given = askedNames.flatMap((name) => {
    const value = config[name];
    if (value === undefined || (takesNoOrders && (name === 'walletSeedFile' || name === 'filesDir')))
      return [];
    return [[name, String(value)] as const];
  });
  return Object.fromEntries(given);
}

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

/** Makes the wallet. Returns what `wallet init --json` prints; null if that was printed for a person. */
async function walletOf(given: CommandContext, config: Config, isJson: boolean): Promise<unknown> {
  const context = { ...given, config };
  // an embedded server is migrated when it is opened; a new database of the operator has no tables yet
  if (config.databaseUrl !== undefined) await migrateServer(context, await openServer(context, 'attach'));
  if (!isJson) {
    await makeWallet({ ...context, flags: {} });
    return null;
  }
  let printed = '';
  const print = (text: string): Promise<void> => {
    printed += text;
    return Promise.resolve();
  };
  await makeWallet({ ...context, flags: { json: 'true' }, print });
  return JSON.parse(printed) as unknown;
}

function writtenLines({ asked, isWritten }: Planned, copy: string | null): string {
  const found = asked.node === null ? [] : foundNodeLines(asked.node);
  const written = isWritten
    ? `${envFile} was written, with mode 600.${copy === null ? '' : ` The earlier file is ${copy}.`}`
    : `${envFile} has these settings already, and is as it was.`;
  return `\n${[...found, written].map((line) => `${line}\n`).join('')}`;
}

function changeLines(changes: readonly ChangedSetting[]): string {
  return changes
    .map(({ variable, before, after }) => `  ${variable}: ${before ?? '(unset)'} -> ${after ?? '(unset)'}`)
    .join('\n');
}

interface NextStep {
  readonly run: string;
  readonly why: string;
}

function nextSteps({ answers, makesWallet }: Asked): readonly NextStep[] {
  const takesOrders = answers.walletSeedFile !== undefined;
  return [
    ...(takesOrders && !makesWallet
      ? [{ run: 'satscribe wallet init', why: 'makes the wallet, which orders need' }]
      : []),
    { run: 'satscribe doctor', why: 'checks node, database, disk and wallet' },
    { run: 'satscribe serve', why: 'starts the service; `ready` on stdout says that it answers' },
    ...(takesOrders
      ? [
          { run: 'satscribe wallet fund', why: 'prints an address for coins that pay bumps and returns' },
          { run: 'docs/orders-api.md', why: 'says how to order; docs/wallet.md has an example on regtest' },
          { run: 'docs/console.md', why: 'has the pages on which an operator sees orders and money' },
          { run: 'satscribe backup DIR', why: 'copies everything that cannot be rebuilt; repeat it daily' },
        ]
      : []),
    { run: 'docs/install.md', why: 'has a unit for systemd, and the containers' },
  ];
}

function resultJson(
  { asked, isWritten, changes }: Planned,
  copy: string | null,
  wallet: unknown,
  steps: readonly NextStep[],
): object {
  return {
    file: envFile,
    isWritten,
    copy,
    changes,
    node: asked.node satisfies TriedNode | null,
    wallet,
    next: steps.map(({ run }) => run),
  };
}

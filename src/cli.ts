import { parseArgs } from 'node:util';
import { nearestWord } from '#kernel/text/nearest-word.ts';
import { type Command, type CommandFlag, UsageError } from './app/command-context.ts';
import { accountsCommand } from './commands/access/accounts.ts';
import { keysCommand } from './commands/access/keys.ts';
import { backupCommand } from './commands/backups/backup.ts';
import { restoreCommand } from './commands/backups/restore.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/indexing/export.ts';
import { indexCommand } from './commands/indexing/index-blocks.ts';
import { migrateCommand } from './commands/indexing/migrate.ts';
import { rollbackCommand } from './commands/indexing/rollback.ts';
import { searchReindexCommand } from './commands/indexing/search-reindex.ts';
import { verifyCommand } from './commands/indexing/verify.ts';
import { collectionsCommand } from './commands/market/collections.ts';
import { salesCommand } from './commands/market/sales.ts';
import { mintCommand } from './commands/mint/mint.ts';
import { auditCommand } from './commands/ordering/audit.ts';
import { inventoryCommand } from './commands/ordering/inventory.ts';
import { ordersCommand } from './commands/ordering/orders.ts';
import { payoutsCommand } from './commands/ordering/payouts.ts';
import { webhooksCommand } from './commands/ordering/webhooks.ts';
import { demoCommand } from './commands/serving/demo.ts';
import { serveCommand } from './commands/serving/serve.ts';
import { completionCommand } from './commands/setup/completion.ts';
import { initCommand } from './commands/setup/init.ts';
import { tokenpayCommand } from './commands/tokenpay/tokenpay.ts';
import { walletCommand } from './commands/wallet/wallet.ts';
import type { SettingName } from './config/config.ts';
import { version } from './kernel/process/version.ts';

export const commands: readonly Command[] = [
  demoCommand,
  initCommand,
  serveCommand,
  indexCommand,
  exportCommand,
  salesCommand,
  verifyCommand,
  doctorCommand,
  rollbackCommand,
  searchReindexCommand,
  migrateCommand,
  accountsCommand,
  keysCommand,
  inventoryCommand,
  ordersCommand,
  mintCommand,
  auditCommand,
  payoutsCommand,
  tokenpayCommand,
  walletCommand,
  webhooksCommand,
  collectionsCommand,
  backupCommand,
  restoreCommand,
  completionCommand(() => commands),
];

const program = 'satscribe';

export type CommandLine =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly command: Command;
      /** Values of flags that belong to settings. They override the environment. */
      readonly settings: Readonly<Partial<Record<SettingName, string>>>;
      readonly flags: Readonly<Record<string, string>>;
      /** The words after the name of a command with `operands` or an `object`. */
      readonly words: readonly string[];
    };

/** Parses the command line. Throws UsageError with the next step in its message. */
export function parseCommandLine(words: readonly string[]): CommandLine {
  const [name, ...rest] = words;
  if (name === undefined) throw new UsageError(`missing command\n\n${overview()}`);
  if (name === '--help' || name === '-h') return { kind: 'help', text: overview() };
  if (name === '--version') return { kind: 'help', text: `${program} ${version}\n` };
  if (name === 'help')
    return { kind: 'help', text: rest[0] === undefined ? overview() : commandHelp(find(rest[0])) };
  const command = find(name);
  const { values, positionals } = parseFlags(command, rest);
  if (values['help'] === true) return { kind: 'help', text: commandHelp(command) };
  const hasOperands = command.operands !== undefined;
  if (!hasOperands) checkObject(command, positionals);
  return { kind: 'run', command, ...givenValues(command, values), words: positionals };
}

/** Separates the values of flags: flags of settings, and flags of the command itself. */
function givenValues(
  command: Command,
  values: FlagValues,
): { settings: Partial<Record<SettingName, string>>; flags: Record<string, string> } {
  const settings: Partial<Record<SettingName, string>> = {};
  const flags: Record<string, string> = {};
  for (const flag of command.flags) {
    const value = values[flag.name];
    if (value === undefined) continue;
    if (flag.setting === null) flags[flag.name] = String(value);
    else settings[flag.setting] = String(value);
  }
  return { settings, flags };
}

function find(name: string): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const what = name.startsWith('-') ? `the command must come first, not ${name}` : `unknown command ${name}`;
  const names = commands.map((known) => known.name);
  throw new UsageError(`${what}${didYouMean(name, names)} the commands are ${names.join(', ')}`);
}

/** The text between an unknown word and the next step. It suggests a known word that is similar. */
function didYouMean(given: string, known: readonly string[]): string {
  const near = nearestWord(given, known);
  return near === null ? ';' : `: did you mean ${near}?`;
}

type FlagValues = Record<string, string | boolean | undefined>;

function parseFlags(
  command: Command,
  words: readonly string[],
): { values: FlagValues; positionals: string[] } {
  const options = Object.fromEntries([
    ...command.flags.map(({ name, value }) => [
      name,
      { type: value === null ? 'boolean' : 'string' } as const,
    ]),
    ['help', { type: 'boolean', short: 'h' } as const],
  ]) as Record<string, { type: 'boolean' | 'string'; short?: string }>;
  const args = joinNegatives(command, words);
  const { values, positionals, tokens } = readWords(command, { args, options });
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || token.name === undefined) continue;
    if (seen.has(token.name) && token.name !== 'help') {
      throw new UsageError(
        `--${token.name} is given more than once; ${program} ${command.name} --help lists the flags`,
      );
    }
    seen.add(token.name);
  }
  return { values, positionals };
}

interface WordsAndOptions {
  readonly args: string[];
  readonly options: Record<string, { type: 'boolean' | 'string'; short?: string }>;
}

interface WordsRead {
  readonly values: FlagValues;
  readonly positionals: string[];
  readonly tokens: readonly { readonly kind: string; readonly name?: string }[];
}

function readWords(command: Command, { args, options }: WordsAndOptions): WordsRead {
  try {
    const read = parseArgs({ args, options, allowPositionals: true, strict: true, tokens: true });
    return read as unknown as WordsRead;
  } catch (error) {
    const reason = firstSentence((error as Error).message);
    const [, flag = ''] = /^unknown option '(--[^']*)'$/u.exec(reason) ?? [];
    const flags = Object.keys(options).map((name) => `--${name}`);
    const hint = didYouMean(flag, flags);
    throw new UsageError(`${reason}${hint} ${program} ${command.name} --help lists the flags`);
  }
}

/**
 * Joins a negative number to the flag before it. Otherwise the number would be parsed as a flag. It is then refused as
 * the value of that flag.
 */
function joinNegatives(command: Command, words: readonly string[]): string[] {
  const takesValue = new Set(
    command.flags.flatMap(({ name, value }) => (value === null ? [] : [`--${name}`])),
  );
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before !== undefined && takesValue.has(before) && /^-\d/u.test(word)) {
      joined[joined.length - 1] = `${before}=${word}`;
    } else {
      joined.push(word);
    }
  }
  return joined;
}

/**
 * Returns the first sentence of an error of parseArgs. Its other sentences explain the syntax of parseArgs; our own
 * syntax is simpler.
 */
function firstSentence(text: string): string {
  const sentence = (text.split(/\.\s|\n/u)[0] ?? text).replace(
    /^Option '(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)$/u,
    'option $1 needs a value',
  );
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/u, '');
}

function checkObject(command: Command, positionals: readonly string[]): void {
  const expected = command.object?.split('|') ?? [];
  const extra = positionals[command.object === null ? 0 : 1];
  if (expected.length > 0 && !expected.includes(positionals[0] ?? '')) {
    const found = positionals[0] === undefined ? 'missing object' : `unknown object ${positionals[0]}`;
    throw new UsageError(`${found}; use ${program} ${command.name} ${command.object}`);
  }
  if (extra === undefined) return;
  throw new UsageError(`unexpected word ${extra}; ${program} ${command.name} --help shows the usage`);
}

function overview(): string {
  const width = Math.max(...commands.map((command) => usageName(command).length));
  const lines = commands.map((command) => `  ${usageName(command).padEnd(width)}  ${command.summary}`);
  return `Usage: ${program} COMMAND [flags]     (in a checkout: npm run -s ${program} -- COMMAND [flags])

Commands:
${lines.join('\n')}

${program} COMMAND --help shows the flags of a command, and ${program} --version shows the version.
Settings can also be in the environment or in a file .env (docs/configuration.md).

Exit codes: 0 done; 1 failure (stderr has its code and what to do); 2 wrong usage or setting;
130 interrupted by Ctrl-C, 143 by SIGTERM, before the command was done (serve and demo: 0);
141 the reader closed the output.
`;
}

function commandHelp(command: Command): string {
  const shown = command.flags.map((flag) => ({
    left: flag.value === null ? `--${flag.name}` : `--${flag.name} ${flag.value}`,
    right: describe(flag),
  }));
  shown.push({ left: '--help', right: 'show this' });
  const width = Math.max(...shown.map(({ left }) => left.length));
  const lines = shown.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
  return `Usage: ${program} ${usageName(command)} [flags]

${command.summary}

Flags:
${lines.join('\n')}

${command.details}
`;
}

function describe(flag: CommandFlag): string {
  return flag.default === null ? flag.description : `${flag.description} (default ${flag.default})`;
}

function usageName(command: Command): string {
  const words = command.object ?? command.operands;
  return words === undefined ? command.name : `${command.name} ${words}`;
}

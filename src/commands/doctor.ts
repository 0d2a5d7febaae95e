import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import type { Finding } from '#src/app/doctor/finding.ts';
import { EndWith } from './exit-codes.ts';
import { ownFlag, settingFlag } from './flags.ts';
import { sentence } from './sentence.ts';
import { jsonFlag } from './service-database.ts';

const kinds = { inscriptions: 'inscriptions', runes: 'runes' } as const;

const usage = 'satscribe doctor, or satscribe doctor compare runes|inscriptions --other URL';

export const doctorCommand: Command = {
  name: 'doctor',
  object: null,
  operands: '[compare runes|inscriptions]',
  actions: ['compare'],
  summary: 'check the installation; or compare the index with that of another instance',
  details: `Checks settings, files, disks, node, policy, database, clocks, Elasticsearch, wallet, webhooks and the
running service: those that the role of the settings uses. Prints one line for each finding, with what to
do. Changes nothing, and may run before the first start, beside a service or without one. The exit code
is 0 if everything is in order, 1 if there is advice, and 2 if something is broken (docs/runbook.md,
"Doctor").

compare finds the first block in which another instance of Satscribe differs. It compares cumulative hashes
(docs/events.md). The search halves the range each time, so it makes about 20 requests for a million blocks.
It prints one line of JSON with the first block that differs, the hashes of both instances, and the first
line of the event text of that block that differs. If there is a difference, the exit code is 1.

  satscribe doctor --cookie-file ~/.bitcoin/.cookie
  satscribe doctor --json
  satscribe doctor compare runes --other https://other.example.com
  satscribe doctor compare runes --other http://127.0.0.1:8090 --data ./data/mainnet`,
  flags: [
    jsonFlag,
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('role', 'ROLE'),
    settingFlag('blocksDir', 'DIR'),
    settingFlag('walletSeedFile', 'FILE'),
    settingFlag('walletMarkFile', 'FILE'),
    settingFlag('port', 'N'),
    settingFlag('host', 'ADDRESS'),
    ownFlag('other', 'URL', 'compare: address of the other instance'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runDoctor,
};

async function runDoctor(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  if (words.length > 0) return compare(context);
  if (flags['other'] !== undefined)
    throw new UsageError(`--other belongs to compare; the command is ${usage}`);
  const [{ examine }, { exitCodeOf, worstOf }] = await Promise.all([
    import('#src/app/doctor/examine.ts'),
    import('#src/app/doctor/finding.ts'),
  ]);
  const findings = await examine(context);
  const level = worstOf(findings);
  await context.print(
    flags['json'] === undefined ? linesOf(findings) : `${JSON.stringify({ findings, level })}\n`,
  );
  if (level !== 'ok') throw new EndWith(exitCodeOf(level));
}

/** One line for each finding, below the name of its group. */
function linesOf(findings: readonly Finding[]): string {
  const lines: string[] = [];
  let last = '';
  for (const { check, level, message, action } of findings) {
    const group = check.split('.', 1)[0] ?? '';
    if (group !== last) lines.push(group);
    last = group;
    lines.push(
      `  ${level.padEnd('advice'.length)}  ${[message, action ?? ''].map(sentence).join(' ').trimEnd()}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

async function compare(context: CommandContext): Promise<void> {
  const kind = kindOf(context.words);
  const other = addressOf(context.flags['other']);
  if (context.flags['json'] !== undefined)
    throw new UsageError('compare always prints JSON: leave --json out');
  const { compareWithOther } = await import('#src/app/doctor/comparing/compare-instances.ts');
  await compareWithOther(context, kind, other);
}

/** Throws UsageError. */
function kindOf([subcommand, kind = '', extra]: readonly string[]): keyof typeof kinds {
  if (subcommand !== 'compare') throw wrongSubcommand(subcommand, usage);
  const known = Object.values(kinds).find((name) => name === kind);
  if (known === undefined) {
    const found = kind === '' ? 'missing object' : `unknown object ${kind}`;
    throw new UsageError(`${found}; the command is ${usage}`);
  }
  if (extra !== undefined)
    throw new UsageError(`unexpected word ${extra}; satscribe doctor --help shows the usage`);
  return known;
}

/** Throws UsageError. */
function addressOf(text: string | undefined): URL {
  if (text === undefined) throw new UsageError('--other URL is required: the instance to compare with');
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError(`--other ${text}: an address begins with http:// or https://`);
  // make it a folder, because other paths are relative to it
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

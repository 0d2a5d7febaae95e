import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import { settingFlag } from './flags.ts';

const kinds = { inscriptions: 'inscriptions', runes: 'runes' } as const;

const usage = 'satscribe doctor compare runes|inscriptions --other URL';

export const doctorCommand: Command = {
  name: 'doctor',
  object: null,
  operands: 'compare runes|inscriptions',
  summary: 'find the first block in which another instance differs',
  details: `Compares the cumulative hashes of blocks (docs/events.md) with those of another instance of Satscribe, by
halving: some 20 requests for a million blocks. Changes nothing, and may run beside a service. Prints the
first block that differs, with the hashes of both and the first line of its text that is not the same,
as one line of JSON; on a difference the exit code is 1.

  satscribe doctor compare runes --other https://other.example.com
  satscribe doctor compare runes --other http://127.0.0.1:8090 --data ./data/mainnet`,
  flags: [
    {
      name: 'other',
      value: 'URL',
      description: 'address of the other instance; required',
      setting: null,
      default: null,
    },
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runDoctor,
};

async function runDoctor(context: CommandContext): Promise<void> {
  const kind = kindOf(context.words);
  const other = addressOf(context.flags['other']);
  const { compareWithOther } = await import('#src/app/doctor/compare-instances.ts');
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

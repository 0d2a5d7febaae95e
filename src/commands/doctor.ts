import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { settingFlag } from './flags.ts';

const kinds = { inscriptions: 'inscriptions', runes: 'runes' } as const;

export const doctorCommand: Command = {
  name: 'doctor',
  object: 'runes|inscriptions',
  summary: 'find the first block in which another instance differs',
  details: `Compares the cumulative hashes of blocks (docs/events.md) with those of another instance of Satscribe, by
halving: some 20 requests for a million blocks. Changes nothing, and may run beside a service. Prints the
first block that differs, with the hashes of both and the first line of its text that is not the same,
as one line of JSON; on a difference the exit code is 1.

  satscribe doctor runes --other https://other.example.com
  satscribe doctor runes --other http://127.0.0.1:8090 --data ./data/mainnet`,
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
  const other = addressOf(context.flags['other']);
  const kind = kinds[context.words[0] as keyof typeof kinds];
  const { compareWithOther } = await import('#src/app/doctor/compare-instances.ts');
  await compareWithOther(context, kind, other);
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

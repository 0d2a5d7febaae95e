import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type SettingName, settings } from '#config/config.ts';
import { type Height, maxHeight, parseHeight } from '#kernel/primitives/height.ts';
import {
  type CommandContext,
  type CommandFlag,
  UsageError,
  wrongSubcommand,
} from '#src/app/command-context.ts';

/** The flag of a setting, with its description and default from the schema. `value` is null for a boolean setting. */
export function settingFlag(name: SettingName, value: string | null, defaultText?: string): CommandFlag {
  const setting = settings.find((candidate) => candidate.name === name);
  if (setting === undefined || setting.flag === null) throw new Error(`setting ${name} has no flag`);
  return {
    name: setting.flag,
    value,
    description: setting.description,
    setting: name,
    // a flag without a value has no default to show
    default: value === null ? null : (defaultText ?? setting.default),
  };
}

/** A flag of a command that belongs to no setting. `value` is null for a flag without a value. */
export function ownFlag(
  name: string,
  value: string | null,
  description: string,
  fallback: string | null = null,
): CommandFlag {
  return { name, value, description, setting: null, default: fallback };
}

export const tipFlag = ownFlag(
  'tip',
  'HASH',
  'index the chain that ends with this block, not the best chain of chain.json',
);

export const traceFlag = ownFlag(
  'trace',
  'FILE',
  'write a file for a trace viewer, with the work and the waiting times of every stage of the first sync',
);

/** The flags that each action of a command accepts, and the number of words that follow the action. */
export type CommandActions = Readonly<
  Record<string, { readonly flags: readonly string[]; readonly words: number }>
>;

/**
 * Returns the action that the words of a command name. Throws UsageError for an unknown action, and for words and flags
 * that the action does not accept.
 */
export function actionOf(
  { flags, words }: Pick<CommandContext, 'flags' | 'words'>,
  command: string,
  actions: CommandActions,
): string {
  const [action = '', ...rest] = words;
  const known = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (known === undefined) {
    const names = Object.keys(actions);
    const all = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    throw wrongSubcommand(action, `satscribe ${command} ${all}`);
  }
  const extra = rest[known.words];
  if (extra !== undefined)
    throw new UsageError(`unexpected word ${extra}; satscribe ${command} --help shows the usage`);
  const wrong = Object.keys(flags).find((name) => !known.flags.includes(name));
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not a flag of satscribe ${command} ${action}`);
  return action;
}

/** Checks that a trace can be written, before the command does anything else. Throws UsageError if it cannot. */
export function checkTrace(flags: Readonly<Record<string, string>>): void {
  const path = flags[traceFlag.name];
  if (path === undefined) return;
  const refuse = (reason: string): never => {
    throw new UsageError(`--${traceFlag.name} ${path}: ${reason}`);
  };
  const folder = dirname(resolve(path));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) refuse(`the folder ${folder} does not exist; make it, or name another file`);
  if (found?.isDirectory() === false) refuse(`${folder} is a file and not a folder; name another file`);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isDirectory() === true) refuse('this is a folder; name a file in this folder');
  try {
    accessSync(file === undefined ? folder : path, constants.W_OK);
  } catch (error) {
    refuse(`this file cannot be written (${(error as NodeJS.ErrnoException).code}); name another file`);
  }
}

/** Reads a height from a flag. undefined if the flag is absent. */
export function heightFlag(flags: Readonly<Record<string, string>>, name: string): Height | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const height = parseHeight(text);
  if (height !== null) return height;
  throw new UsageError(`--${name} ${text} is not a height; a height is an integer from 0 to ${maxHeight}`);
}

/** Reads a block hash from a flag, in display order. undefined if the flag is absent. */
export function hashFlag(flags: Readonly<Record<string, string>>, name: string): string | undefined {
  const text = flags[name];
  if (text === undefined || /^[0-9a-f]{64}$/u.test(text)) return text;
  throw new UsageError(`--${name} ${text} is not a block hash; a block hash has 64 digits, 0-9 and a-f`);
}

import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type SettingName, settings } from '#config/config.ts';
import { type Height, maxHeight, parseHeight } from '#kernel/primitives/height.ts';
import { type CommandFlag, UsageError } from '#src/app/command-context.ts';

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

export const tipFlag: CommandFlag = {
  name: 'tip',
  value: 'HASH',
  description: 'index the chain that ends with this block, instead of the best chain of chain.json',
  setting: null,
  default: null,
};

export const traceFlag: CommandFlag = {
  name: 'trace',
  value: 'FILE',
  description: 'write what every stage of the first sync did and waited for into a file for a trace viewer',
  setting: null,
  default: null,
};

/** Throws UsageError where no trace can be written, before anything else is done. */
export function checkTrace(flags: Readonly<Record<string, string>>): void {
  const path = flags[traceFlag.name];
  if (path === undefined) return;
  const refuse = (reason: string): never => {
    throw new UsageError(`--${traceFlag.name} ${path}: ${reason}`);
  };
  const folder = dirname(resolve(path));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) refuse(`there is no folder ${folder}; make it, or name another file`);
  if (found?.isDirectory() === false) refuse(`${folder} is a file, not a folder`);
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isDirectory() === true) refuse('this is a folder; name a file in it');
  try {
    accessSync(file === undefined ? folder : path, constants.W_OK);
  } catch (error) {
    refuse(`it cannot be written (${(error as NodeJS.ErrnoException).code}); name another file`);
  }
}

/** A height from a flag; undefined if not given. */
export function heightFlag(flags: Readonly<Record<string, string>>, name: string): Height | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const height = parseHeight(text);
  if (height !== null) return height;
  throw new UsageError(`--${name} ${text}: a height is an integer from 0 to ${maxHeight}`);
}

/** A block hash from a flag, in display order; undefined if not given. */
export function hashFlag(flags: Readonly<Record<string, string>>, name: string): string | undefined {
  const text = flags[name];
  if (text === undefined || /^[0-9a-f]{64}$/u.test(text)) return text;
  throw new UsageError(`--${name} ${text}: a block hash is 64 digits, 0-9 and a-f`);
}

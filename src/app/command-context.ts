import type { Config, SettingName } from '#config/config.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { Health } from '#kernel/reports/health.ts';
import type { Logger } from '#kernel/reports/logger.ts';

/** A flag of a command. It sets a setting (src/config), or it belongs to the command alone. */
export interface CommandFlag {
  readonly name: string;
  /** The placeholder of the flag's value in the help. `null` if the flag has no value; it is then `true` when given. */
  readonly value: string | null;
  readonly description: string;
  /** The setting that the flag overrides. `null` if the flag belongs to the command alone. */
  readonly setting: SettingName | null;
  /** The default value. `null` if leaving the flag out has a meaning of its own, which the description gives. */
  readonly default: string | null;
}

/** The inputs of a command. */
export interface CommandContext {
  readonly config: Config;
  /** Values of the flags that belong to the command alone. */
  readonly flags: Readonly<Record<string, string>>;
  /** The words after the command's name, for a command with `operands` or an `object`. */
  readonly words: readonly string[];
  readonly lifecycle: Lifecycle;
  /** Problems that stop parts of this process. */
  readonly health: Health;
  readonly logger: Logger;
  /**
   * Writes to stdout, and settles when the write is done. Control characters and marks of text direction are written as
   * escapes, which JSON parsers read as the same text. `exact` writes the text unchanged, for exports whose bytes are
   * compared.
   */
  readonly print: (text: string, how?: 'exact') => Promise<void>;
}

/** The values given on the command line and in the environment. */
export interface GivenSettings {
  /** Values of the flags that belong to the command alone. */
  readonly flags: Readonly<Record<string, string>>;
  /** Values of the flags that set settings. */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface PreparedSettings {
  readonly settings: GivenSettings['settings'];
  /** Defaults of this command, which replace the general defaults. */
  readonly defaults: Partial<Config>;
}

export interface Command {
  readonly name: string;
  /** The word after the command's name that belongs to the name. A `|` separates the allowed words. */
  readonly object: string | null;
  /**
   * Further words of the command line, in the form that the help shows. Absent if there are none. The command checks
   * them.
   */
  readonly operands?: string;
  /** The first words of `operands`, for shells that complete them. Absent: `operands` has them, separated by `|`. */
  readonly actions?: readonly string[];
  readonly summary: string;
  /** Text below the flags in the help. */
  readonly details: string;
  readonly flags: readonly CommandFlag[];
  /**
   * Derives settings from the command's flags and the environment, before the settings are read. Absent if the command
   * derives none.
   */
  readonly prepare?: (given: GivenSettings) => PreparedSettings;
  /** Runs until the command is done. A command that serves runs until the lifecycle ends. */
  readonly run: (context: CommandContext) => Promise<void>;
}

/** Error for a wrong use of the command line. The exit code is 2, and the message names the next step. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The error for a missing or unknown subcommand; `usage` names the known ones. */
export function wrongSubcommand(word: string | undefined, usage: string): UsageError {
  const found = word === undefined || word === '' ? 'missing subcommand' : `unknown subcommand ${word}`;
  return new UsageError(`${found}; use ${usage}`);
}

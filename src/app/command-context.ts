import type { Config, SettingName } from '#config/config.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { Health } from '#kernel/reports/health.ts';
import type { Logger } from '#kernel/reports/logger.ts';

/** A flag of a command: for a setting (src/config), or for the command alone. */
export interface CommandFlag {
  readonly name: string;
  /** The placeholder of its value in the help. Null: it takes no value, and is `true` when given. */
  readonly value: string | null;
  readonly description: string;
  /** The setting that it overrides. Null: the flag is the command's own. */
  readonly setting: SettingName | null;
  /** Null: leaving the flag out has a meaning of its own, given in the description. */
  readonly default: string | null;
}

/** The inputs of a command. */
export interface CommandContext {
  readonly config: Config;
  /** Values of the command's own flags. */
  readonly flags: Readonly<Record<string, string>>;
  /** The words after the name, for a command with `operands` or an `object`. */
  readonly words: readonly string[];
  readonly lifecycle: Lifecycle;
  /** Problems that keep parts of this process from their work. */
  readonly health: Health;
  readonly logger: Logger;
  /**
   * Writes to stdout; settles when the write is done. Controls and marks of direction are written as escapes, which
   * JSON reads as the same text; `exact` is for exports, whose bytes are compared.
   */
  readonly print: (text: string, how?: 'exact') => Promise<void>;
}

/** The values given on the command line and in the environment. */
export interface GivenSettings {
  /** The command's own flags. */
  readonly flags: Readonly<Record<string, string>>;
  /** Flags of settings. */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface PreparedSettings {
  readonly settings: GivenSettings['settings'];
  /** Override the general defaults. */
  readonly defaults: Partial<Config>;
}

export interface Command {
  readonly name: string;
  /** The word after the name that belongs to it: one of those that a `|` separates. */
  readonly object: string | null;
  /** Further words of the command line, as the help shows them. Absent: none. The command checks them. */
  readonly operands?: string;
  readonly summary: string;
  /** Text below the flags in the help. */
  readonly details: string;
  readonly flags: readonly CommandFlag[];
  /**
   * Settings that the command derives from its flags and the environment before the settings are read. Absent: none.
   */
  readonly prepare?: (given: GivenSettings) => PreparedSettings;
  /** Runs until the command is done, or, if it serves, until the lifecycle ends. */
  readonly run: (context: CommandContext) => Promise<void>;
}

/** Wrong usage of the command line: exit code 2, with the next step. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The error for a missing or unknown subcommand; `usage` names the known ones. */
export function wrongSubcommand(word: string | undefined, usage: string): UsageError {
  const found = word === undefined || word === '' ? 'missing subcommand' : `unknown subcommand ${word}`;
  return new UsageError(`${found}; the command is ${usage}`);
}

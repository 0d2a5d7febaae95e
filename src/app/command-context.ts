import type { Health } from '#kernel/health.ts';
import type { Lifecycle } from '#kernel/lifecycle.ts';
import type { Logger } from '#kernel/logger.ts';
import type { Config, SettingName } from '#src/config.ts';

/** A flag of a command: one that sets a setting (config.ts), or one of the command alone. */
export interface CommandFlag {
  readonly name: string;
  /** What stands for its value in the help; null: it takes none, and is `true` where it is given. */
  readonly value: string | null;
  readonly description: string;
  /** The setting that it goes before; null: it is the command's own. */
  readonly setting: SettingName | null;
  /** Null where leaving it out means something of its own, which the description says. */
  readonly default: string | null;
}

/** What a command works with. */
export interface CommandContext {
  readonly config: Config;
  /** Values of the command's own flags. */
  readonly flags: Readonly<Record<string, string>>;
  /** The words after the name, of a command with `operands`. */
  readonly words: readonly string[];
  readonly lifecycle: Lifecycle;
  /** What keeps parts of this process from their work. */
  readonly health: Health;
  readonly logger: Logger;
  /** Writes to stdout and settles when it is taken. */
  readonly print: (text: string) => Promise<void>;
}

/** What was given on the command line and in the environment. */
export interface GivenSettings {
  /** The command's own flags. */
  readonly flags: Readonly<Record<string, string>>;
  /** Flags of settings. */
  readonly settings: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface PreparedSettings {
  readonly settings: GivenSettings['settings'];
  /** In place of the general defaults. */
  readonly defaults: Partial<Config>;
}

export interface Command {
  readonly name: string;
  /** Words after the name that are part of it, e.g. `inscriptions`. */
  readonly object: string | null;
  /** Words after the name that say what to do with what, as the help shows them; absent: none. The command checks them. */
  readonly operands?: string;
  readonly summary: string;
  /** What the help says below the flags. */
  readonly details: string;
  readonly flags: readonly CommandFlag[];
  /** What the command makes of its flags and the environment before the settings are read; absent: nothing. */
  readonly prepare?: (given: GivenSettings) => PreparedSettings;
  /** Runs until it is done, or, where it serves, until the lifecycle ends. */
  readonly run: (context: CommandContext) => Promise<void>;
}

/** A wrong use of the command line: exit code 2, with the next step. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

import { parseEnv } from 'node:util';
import { loadConfig, type Setting, type SettingName, settings } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** The settings that `satscribe init` asks for, by the headings under which the file has them. */
export const askedSettings = {
  'The node': ['network', 'bitcoinRpcUrl', 'bitcoinCookieFile', 'bitcoinRpcUser', 'bitcoinRpcPassword'],
  'The database': ['dataDir', 'databaseUrl', 'databaseReaderUrl'],
  'Who may reach the service': ['port', 'host', 'publicUrl', 'trustProxy'],
  'Who may search': ['searchAccess', 'searchAllowedDomains'],
  'The index: fixed with the first block': ['indexAddresses', 'indexSats'],
  Orders: ['walletSeedFile', 'filesDir'],
} as const satisfies Readonly<Record<string, readonly SettingName[]>>;

export type AskedSetting = (typeof askedSettings)[keyof typeof askedSettings][number];

/** Answers as texts of the environment. Absent: the setting is left unset. */
export type Answers = Readonly<Partial<Record<AskedSetting, string>>>;

/** All asked settings, in the order of the file. */
export const askedNames: readonly AskedSetting[] = Object.values(askedSettings).flat();

/** A setting that a new file would change. Null: unset. Values of secrets are never shown. */
export interface ChangedSetting {
  readonly variable: string;
  readonly before: string | null;
  readonly after: string | null;
}

const settingOf = (name: SettingName): Setting => {
  const setting = settings.find((candidate) => candidate.name === name);
  if (setting === undefined) throw new Error(`there is no setting ${name}`);
  return setting;
};

/** The environment that these answers make. */
export function environmentOf(answers: Answers): Record<string, string> {
  const given = askedNames.flatMap((name) => {
    const text = answers[name];
    return text === undefined ? [] : [[settingOf(name).variable, text] as const];
  });
  return Object.fromEntries(given);
}

/**
 * Why these answers are not valid settings, without the origin of the value. Null: they are valid. Secrets are not
 * shown.
 */
export function faultOf(answers: Answers): string | null {
  const environment = environmentOf(answers);
  for (const [variable, text] of Object.entries(environment))
    if (quoted(text) === null)
      return `${variable}: a file .env cannot hold line breaks, nor all three kinds of quotes at once`;
  try {
    loadConfig({ env: environment });
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const [first = error.message] = error.message.split('\n');
    return first.replace(/^environment variable \w+: /u, '');
  }
}

/**
 * The text of a file `.env` with these answers, each with its description. Lines of `kept` are other variables of an
 * earlier file, which stay. Node reads exactly the same values from the text.
 */
export function envFileText(answers: Answers, kept: Readonly<Record<string, string>> = {}): string {
  const parts = Object.entries(askedSettings).map(
    ([heading, names]) => `# --- ${heading} ---\n\n${names.map((name) => linesOf(name, answers)).join('\n')}`,
  );
  const others = Object.entries(kept).map(([variable, text]) => `${variable}=${quoted(text) ?? ''}\n`);
  if (others.length > 0) parts.push(`# --- Kept from the earlier file ---\n\n${others.join('')}`);
  return `# Settings of Satscribe, written by \`satscribe init\`. Flags and the environment go before this file.
# All settings with their defaults: docs/configuration.md.

${parts.join('\n')}`;
}

function linesOf(name: AskedSetting, answers: Answers): string {
  const { variable, description } = settingOf(name);
  const text = answers[name];
  // an unset one is shown as a line to fill in
  const line = text === undefined ? `#${variable}=` : `${variable}=${quoted(text) ?? ''}`;
  return `# ${description}\n${line}\n`;
}

/** A value as `.env` holds it. Null: no kind of quotes can hold it. */
function quoted(text: string): string | null {
  if (/[\r\n\0]/u.test(text)) return null;
  if (/^[\w./:@,+%?&=*-]*$/u.test(text)) return text;
  if (!text.includes("'")) return `'${text}'`;
  if (!text.includes('`')) return `\`${text}\``;
  // Node reads \n within these quotes as a line break
  return text.includes('"') || text.includes('\\') ? null : `"${text}"`;
}

/** Variables of an earlier file that were not asked for. */
export interface KeptVariables {
  /** A new file keeps these. */
  readonly values: Readonly<Record<string, string>>;
  /** Names of those with line breaks, which a new file cannot hold. */
  readonly lost: readonly string[];
}

export function keptVariables(earlier: string): KeptVariables {
  const asked = new Set(askedNames.map((name) => settingOf(name).variable));
  const others = (Object.entries(parseEnv(earlier)) as [string, string][]).filter(
    ([variable]) => !asked.has(variable),
  );
  return {
    values: Object.fromEntries(others.filter(([, text]) => quoted(text) !== null)),
    lost: others.filter(([, text]) => quoted(text) === null).map(([variable]) => variable),
  };
}

/** Settings that a file with these answers changes in an earlier file. */
export function changesOf(earlier: string, answers: Answers): readonly ChangedSetting[] {
  const old = parseEnv(earlier);
  const next = environmentOf(answers);
  return askedNames.map(settingOf).flatMap(({ variable, secret, default: usual }) => {
    const before = old[variable] === '' ? null : (old[variable] ?? null);
    const after = next[variable] ?? null;
    // a default that is written is not a change
    if ((before ?? usual) === (after ?? usual)) return [];
    const shown = (text: string | null): string | null => (secret && text !== null ? '(secret)' : text);
    return [{ variable, before: shown(before), after: shown(after) }];
  });
}

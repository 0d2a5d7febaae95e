import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPostgresAddress } from '#kernel/pg/connection/postgres-address.ts';
import { allFailpoints, seams } from '#kernel/process/failpoint.ts';
import { accessSettings, wrongAccessSettings } from './access-settings.ts';
import { nodeSettings, wrongNodeSettings } from './node-settings.ts';
import { orderSettings, wrongOrderSettings } from './order-settings.ts';
import { searchSettings, wrongSearchSettings } from './search-settings.ts';
import { utxoSettings, wrongUtxoSettings } from './utxo-settings.ts';

/**
 * All settings, with type, bounds, default and purpose. The environment variable has the setting's name in capitals
 * (DATA_DIR for `dataDir`). `flag` is the command line flag, if there is one. scripts/env-example.ts generates
 * docs/configuration.md and .env.example from this schema.
 */
export const configSchema = Type.Object(
  {
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 7700,
      flag: 'port',
      description: 'TCP port of the API and the pages; 0: the system chooses a free port',
    }),
    host: Type.String({
      minLength: 1,
      maxLength: 255,
      default: '127.0.0.1',
      flag: 'host',
      description:
        'IP address or name to listen on; 0.0.0.0 or :: listens on all addresses; a name stands for its first IPv4 address, or else its first IPv6 address',
    }),
    dataDir: Type.String({
      minLength: 1,
      maxLength: 4096,
      default: './data',
      flag: 'data',
      description: 'folder of all data, including the embedded Postgres',
    }),
    blocksDir: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        flag: 'blocks',
        description: 'folder of blocks to index (docs/architecture.md, "Block folders")',
      }),
    ),
    databaseUrl: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        maxLength: 4096,
        secret: true,
        description:
          'PostgreSQL 15 or newer to use instead of the embedded server, as postgres://user:password@host:port/database. Its user owns the tables. `?sslmode=` works as in libpq (docs/install.md, "TLS to Postgres")',
      }),
    ),
    databaseReaderUrl: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        maxLength: 4096,
        secret: true,
        description:
          'the same database with the user that answers requests, who only reads and owns nothing (docs/install.md, "Two roles of the database"); unset: the user of DATABASE_URL answers requests, and the log warns',
      }),
    ),
    ...searchSettings,
    role: Type.Enum(['all', 'indexer', 'search-sync', 'orders', 'api'], {
      default: 'all',
      flag: 'role',
      description:
        'task of this process: `indexer` follows the chain, `search-sync` copies the index to Elasticsearch, `orders` processes orders and sends webhooks, `api` answers requests, `all` does everything. `api` needs DATABASE_READER_URL or DATABASE_URL, the other single roles need DATABASE_URL',
    }),
    network: Type.Optional(
      Type.Enum(['mainnet', 'testnet3', 'testnet4', 'signet', 'regtest'], {
        flag: 'network',
        description:
          'refuse a node or a folder of another network than this; unset: use the network of the node or folder',
      }),
    ),
    ...nodeSettings,
    ...accessSettings,
    eventsKeepBlocks: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 144,
      description: 'number of newest blocks whose event texts are kept; older texts are rebuilt on request',
    }),
    indexAddresses: Type.Boolean({
      default: false,
      flag: 'index-addresses',
      description:
        'index the owner of every output, so that addresses show all their outputs; cannot be changed after the first block',
    }),
    indexRunes: Type.Boolean({
      default: true,
      description:
        'index runes; if true, an existing index gets runes in the background; if false, runes are left out',
    }),
    indexSales: Type.Boolean({
      default: true,
      description:
        'index sales; if true, an existing index gets sales in the background; if false, sales are left out',
    }),
    indexSats: Type.Boolean({
      default: false,
      flag: 'index-sats',
      description:
        'index the sats of every output, as ord --index-sats does; cannot be changed after the first block',
    }),
    satsKeepBlocks: Type.Integer({
      minimum: 6,
      maximum: 1_000_000,
      // one week; the data of a block needs some 500 kB
      default: 1008,
      description:
        'number of newest blocks for which an index of sats keeps the spent sats; a deeper reorganisation traces these sats again, through a node that has all blocks',
    }),
    ...utxoSettings,
    ...orderSettings,
    readyLagBlocks: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      // A block is mined every ten minutes and indexed in less than a second. If more than a few blocks are missing at
      // once, the index is late.
      default: 3,
      description:
        'maximum number of blocks that the index may be behind the source; beyond this, /health/ready answers 503',
    }),
    failpoint: Type.Optional(
      Type.String({
        pattern: '^[a-z-]+:[1-9][0-9]*(:(overlapped|held))?$',
        maxLength: 64,
        description:
          'for tests of crashes: `NAME:N` kills this process when it reaches the point NAME for the Nth time (docs/chaos.md)',
      }),
    ),
    loadBatchBlocks: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'for tests of crashes: number of blocks in a batch of a first load, which begins when four batches remain',
      }),
    ),
    logLevel: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      default: 'info',
      flag: 'log-level',
      description: 'lowest level of messages in the log, which goes to stderr',
    }),
    logFormat: Type.Enum(['auto', 'pretty', 'json'], {
      default: 'auto',
      flag: 'log-format',
      description:
        'form of the log: `pretty` writes lines for people, `json` for programs; `auto` is `pretty` on a terminal, and `json` otherwise',
    }),
  },
  { additionalProperties: false },
);

export type Config = Readonly<Static<typeof configSchema>>;
export type SettingName = keyof Config;

/** A setting, in the form that documentation and the command line need. */
export interface Setting {
  readonly name: SettingName;
  /** Name of the environment variable. */
  readonly variable: string;
  /** Name of the flag without its dashes. `null` if there is no flag. */
  readonly flag: string | null;
  readonly description: string;
  /** The allowed values in words, for example `integer from 0 to 65535`. */
  readonly values: string;
  readonly default: string | null;
  readonly secret: boolean;
}

interface SettingSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly default?: string | number | boolean;
  readonly flag?: string;
  readonly description: string;
  readonly secret?: boolean;
}

/** All settings, in the order of the schema. */
export const settings: readonly Setting[] = Object.entries(configSchema.properties).map(
  ([name, property]) => {
    const schema = property as unknown as SettingSchema;
    return {
      name: name as SettingName,
      variable: name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase(),
      flag: schema.flag ?? null,
      description: schema.description,
      values: valuesInWords(schema),
      default: schema.default === undefined ? null : String(schema.default),
      secret: schema.secret ?? false,
    };
  },
);

export interface ConfigInput {
  /** Environment variables. An empty variable counts as missing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of flags, by the name of the setting. */
  readonly flags?: Readonly<Partial<Record<SettingName, string>>>;
  /** Defaults of a command, which override the general defaults. */
  readonly defaults?: Readonly<Partial<Config>>;
}

/**
 * Reads the configuration. A flag overrides the environment, and the environment overrides the default. The result is
 * frozen. Throws `config_invalid`, which names every wrong setting, where it came from, and its allowed values.
 */
export function loadConfig(input: ConfigInput): Config {
  const values: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const setting of settings) {
    const given = givenText(setting, input);
    const value =
      given === null
        ? (input.defaults?.[setting.name] ?? schemaOf(setting).default)
        : fromText(setting, given.text);
    if (value === undefined) continue;
    values[setting.name] = value;
    if (Value.Check(configSchema.properties[setting.name], value)) continue;
    const shown = setting.secret ? 'its value' : JSON.stringify(value);
    wrong.push(`${given?.source ?? 'default'}: ${shown} is not valid; it must be ${setting.values}`);
  }
  if (wrong.length === 0) wrong.push(...contradictions(values as Config));
  if (wrong.length > 0) throw new AppError('config_invalid', wrong.join('\n'), { wrong });
  return Object.freeze(values) as Config;
}

/** Finds settings that are valid alone but contradict each other. */
function contradictions(config: Config): string[] {
  const wrong = [
    ...wrongDatabase(config),
    ...wrongAddresses(config),
    ...wrongNodeSettings(config),
    ...wrongSearchSettings(config),
    ...wrongAccessSettings(config),
    ...wrongUtxoSettings(config),
    ...wrongOrderSettings(config),
  ];
  const [point, , how] = config.failpoint?.split(':') ?? [];
  const points: readonly string[] = how === undefined ? allFailpoints : seams;
  if (point !== undefined && !points.includes(point)) {
    wrong.push(`FAILPOINT: unknown point ${point}; the points are ${points.join(', ')}`);
  }
  return wrong;
}

function wrongDatabase({ role, databaseUrl, databaseReaderUrl }: Config): string[] {
  if (databaseUrl !== undefined || (role === 'api' && databaseReaderUrl !== undefined)) return [];
  const wrong: string[] = [];
  if (role !== 'all') {
    const needed = role === 'api' ? 'DATABASE_READER_URL or DATABASE_URL' : 'DATABASE_URL';
    wrong.push(
      `ROLE ${role} needs ${needed}, because processes that share a database cannot use an embedded server`,
    );
  }
  if (databaseReaderUrl !== undefined) {
    wrong.push('DATABASE_READER_URL needs DATABASE_URL, because the embedded Postgres has its own roles');
  }
  return wrong;
}

/** Checks the URLs of databases. Messages do not show these URLs, because they contain passwords. */
function wrongAddresses({ databaseUrl, databaseReaderUrl }: Config): string[] {
  const given = { DATABASE_URL: databaseUrl, DATABASE_READER_URL: databaseReaderUrl };
  return Object.entries(given).flatMap(([name, url]) => {
    const address = url === undefined ? null : readPostgresAddress(url);
    return address?.kind === 'wrong' ? [`${name}: ${address.why}`] : [];
  });
}

function givenText(setting: Setting, { env, flags }: ConfigInput): { text: string; source: string } | null {
  const flag = flags?.[setting.name];
  if (flag !== undefined) return { text: flag, source: `flag --${setting.flag}` };
  const variable = env[setting.variable];
  if (variable === undefined || variable === '') return null;
  return { text: variable, source: `environment variable ${setting.variable}` };
}

function schemaOf(setting: Setting): SettingSchema {
  return configSchema.properties[setting.name] as unknown as SettingSchema;
}

/**
 * Reads the environment of this process. No other code reads it. A file `.env` in the working folder adds variables
 * that are not set.
 */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  // oxlint-disable-next-line node/no-process-env -- the one place
  const { env } = process;
  for (const [name, value] of Object.entries(readEnvFile())) env[name] ??= value;
  return env;
}

/**
 * Reads the file `.env`. `process.loadEnvFile` is not used, because it does not distinguish an unreadable file from a
 * missing file.
 */
export function readEnvFile(): Readonly<Record<string, string | undefined>> {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    // throw, because otherwise the settings in this file would be ignored silently
    throw new AppError(
      'config_invalid',
      `The file .env of the working folder cannot be read (${code})`,
      {},
      error,
    );
  }
}

function fromText(setting: Setting, text: string): unknown {
  const schema = schemaOf(setting);
  // accept only decimal digits: no blanks, signs, exponents or other bases
  if (schema.type === 'integer') return /^\d{1,15}$/u.test(text) ? Number(text) : text;
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

function valuesInWords(schema: SettingSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(', ')}`;
  if (schema.type === 'integer')
    return `an integer from ${schema.minimum ?? 0} to ${schema.maximum ?? '2^53'}`;
  if (schema.type === 'boolean') return 'true or false';
  const length = `a text of 1 to ${schema.maxLength ?? 4096} characters`;
  return schema.pattern === undefined ? length : `${length} that matches ${schema.pattern}`;
}

/** Whether Postgres answers searches, or must be able to answer them. */
export const mayPostgresSearch = ({ elasticsearchUrl, searchFallback }: Config): boolean =>
  elasticsearchUrl === undefined || searchFallback === 'postgres';

/** Whether the database is the embedded server of the data folder. */
export const hasEmbeddedDatabase = ({ databaseUrl, databaseReaderUrl }: Config): boolean =>
  databaseUrl === undefined && databaseReaderUrl === undefined;

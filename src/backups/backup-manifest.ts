import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { AppError } from '#kernel/errors/app-error.ts';
import { indexEnd } from '#wallet/indices/branch-ends.ts';

/** The newest format of a backup that this version writes and reads. */
export const backupFormat = 1;

/** Names of tables, columns and sequences of schema `service`. They become parts of statements and paths. */
const identifier = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const nullOr = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

const network = Type.Union([
  Type.Literal('mainnet'),
  Type.Literal('testnet3'),
  Type.Literal('testnet4'),
  Type.Literal('signet'),
  Type.Literal('regtest'),
]);
const end = Type.Integer({ minimum: 0, maximum: indexEnd });
const ends = Type.Object({ orders: end, own: end, fees: end });

const tableSchema = Type.Object({
  name: identifier,
  columns: Type.Array(identifier, { minItems: 1 }),
  rows: count,
  /** Bytes of its file. */
  bytes: count,
  /** Bytes of its rows in the text format of COPY. */
  textBytes: count,
  /** The hash of its file. */
  sha256,
});

const manifestSchema = Type.Object({
  about: Type.String(),
  format: Type.Literal(backupFormat),
  program: Type.String(),
  createdAt: Type.String(),
  network: nullOr(network),
  tip: nullOr(Type.Object({ height: count })),
  /** Migrations of schema `service` that the tables have. */
  migrations: Type.Array(Type.String({ pattern: '^[0-9]{4}_[a-z0-9_-]+$' }), { minItems: 1 }),
  wallet: nullOr(
    Type.Object({
      network,
      accountXpub: Type.String(),
      masterFingerprint: Type.String({ pattern: '^[0-9a-f]{8}$' }),
    }),
  ),
  /** Ends of the indices that may have been shown. `mark`: null if this machine had no mark file. */
  ends: Type.Object({ database: nullOr(ends), mark: nullOr(ends) }),
  tables: Type.Array(tableSchema),
  sequences: Type.Array(
    Type.Object({
      name: identifier,
      last: Type.String({ pattern: '^-?[0-9]{1,19}$' }),
      isCalled: Type.Boolean(),
    }),
  ),
  /**
   * Contents of customers' files. `sha256`: the hash of their list. `missing`: contents that rows need, and that the
   * operator left out.
   */
  files: Type.Object({ count, bytes: count, sha256, missing: count }),
  /** Whether the seed file is a part of the backup. */
  hasSeed: Type.Boolean(),
  /** The hash of the service's secret; null: the service had none. */
  secret: nullOr(sha256),
});

/** The content of `backup.json`, without its checksum. */
export type BackupManifest = Static<typeof manifestSchema>;
export type BackedUpTable = Static<typeof tableSchema>;

/** Names of the parts of a backup. */
export const backupParts = {
  manifest: 'backup.json',
  tables: 'service',
  files: 'files',
  fileList: 'files.list',
  seed: 'wallet.seed',
  secret: 'service.secret',
} as const;

/** Maximum number of bytes of the seed file and of the file of the service's secret. A seed file has at most 1,024. */
export const secretBytesMax = 1024;

/** Name of the file of a table. */
export const fileOfTable = (table: string): string => `${table}.copy.zst`;

export const aboutBackup =
  'Backup of a Satscribe service. satscribe restore reads it and checks every byte; do not edit it (docs/runbook.md, "Backups").';

const checksumOf = (manifest: object): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/** The text of `backup.json`. */
export const manifestText = (manifest: BackupManifest): string =>
  `${JSON.stringify({ ...manifest, checksum: checksumOf(manifest) }, null, 2)}\n`;

/** Parses the text of `backup.json`. Throws `backup_damaged` and `backup_newer`. */
export function parseManifest(text: string): BackupManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(`${backupParts.manifest} is not JSON`);
  }
  if (typeof value !== 'object' || value === null) throw damaged(`${backupParts.manifest} is not an object`);
  const { checksum, ...manifest } = value as Record<string, unknown>;
  if (checksum !== checksumOf(manifest)) throw damaged(`${backupParts.manifest} was changed`);
  const { format, program } = manifest;
  if (typeof format === 'number' && format > backupFormat)
    throw newer(`it has format ${format}, and this version reads format ${backupFormat}`, String(program));
  if (!Value.Check(manifestSchema, manifest))
    throw damaged(`${backupParts.manifest} lacks a field, or has one of another form`);
  return manifest;
}

/**
 * Throws `backup_newer` if a migration of the backup is unknown, and `backup_damaged` if known migrations are not in
 * their sequence.
 */
export function checkMigrations({ migrations, program }: BackupManifest, known: readonly string[]): void {
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw newer(`it has migrations that this version does not know: ${unknown.join(', ')}`, program);
  if (migrations.some((name, place) => name !== known[place]))
    throw damaged('its migrations are not those of a version');
}

export const damaged = (fault: string): AppError =>
  new AppError('backup_damaged', `The backup is damaged: ${fault}.`);

const newer = (fault: string, program: string): AppError =>
  new AppError('backup_newer', `Satscribe ${program} made the backup, and ${fault}.`, { program });

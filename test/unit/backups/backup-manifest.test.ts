import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BackupManifest,
  checkMigrations,
  manifestText,
  parseManifest,
} from '#backups/backup-manifest.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const hash = 'ab'.repeat(32);
const manifest: BackupManifest = {
  about: 'a backup',
  format: 1,
  program: '0.1.0',
  createdAt: '2026-11-30T00:00:00.000Z',
  network: 'regtest',
  tip: { height: 5 },
  migrations: ['0001_foundation', '0002_access'],
  wallet: { network: 'regtest', accountXpub: 'tpub', masterFingerprint: 'd34db33f' },
  ends: { database: { orders: 1, own: 2, fees: 3 }, mark: null },
  tables: [{ name: 'orders', columns: ['id', 'index'], rows: 1, bytes: 2, textBytes: 3, sha256: hash }],
  sequences: [{ name: 'orders_id_seq', last: '9223372036854775807', isCalled: true }],
  files: { count: 1, bytes: 2, sha256: hash, missing: 0 },
  hasSeed: true,
  secret: null,
};
const codeOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
};

describe('the manifest of a backup', () => {
  const text = manifestText(manifest);

  test('is read as it was written', () => expect(parseManifest(text)).toEqual(manifest));

  test('is refused if any character is another one', () => {
    const place = fc.nat({ max: text.length - 2 });
    fc.assert(
      fc.property(place, fc.string({ minLength: 1, maxLength: 1 }), (at, other) => {
        fc.pre(text[at] !== other);
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        // blanks between fields have no meaning
        if (isSameJson(changed)) return;
        expect(codeOf(() => parseManifest(changed))).toBe('backup_damaged');
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  const isSameJson = (other: string): boolean => {
    try {
      return JSON.stringify(JSON.parse(other)) === JSON.stringify(JSON.parse(text));
    } catch {
      return false;
    }
  };

  test('is damaged or newer for any text, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (any) => {
        expect(['backup_damaged', 'backup_newer']).toContain(codeOf(() => parseManifest(any)));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test.each<[string, Partial<Record<keyof BackupManifest, unknown>>, string]>([
    ['a newer format', { format: 2 }, 'backup_newer'],
    ['an unknown network', { network: 'testnet9' }, 'backup_damaged'],
    ['a table that is a path', { tables: [{ ...manifest.tables[0], name: '../a' }] }, 'backup_damaged'],
    ['a column that ends a name', { tables: [{ ...manifest.tables[0], columns: ['a"'] }] }, 'backup_damaged'],
    [
      'an index beyond all indices',
      { ends: { database: null, mark: { orders: 2e9 + 1, own: 0, fees: 0 } } },
      'backup_damaged',
    ],
    ['a negative number of rows', { tables: [{ ...manifest.tables[0], rows: -1 }] }, 'backup_damaged'],
  ])('is refused with %s', (_, change, code) => {
    expect(codeOf(() => parseManifest(manifestText({ ...manifest, ...change } as BackupManifest)))).toBe(
      code,
    );
  });
});

test.each<[readonly string[], string | null]>([
  [['0001_foundation', '0002_access', '0003_payments'], null],
  [['0001_foundation', '0002_access'], null],
  [['0001_foundation'], 'backup_newer'],
  [['0002_access', '0001_foundation'], 'backup_damaged'],
  [['0001_foundation', '0001_other', '0002_access'], 'backup_damaged'],
])('a version with the migrations %j reads it: %s', (known, code) =>
  expect(codeOf(() => checkMigrations(manifest, known))).toBe(code),
);

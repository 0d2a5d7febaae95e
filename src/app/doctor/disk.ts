import { stat } from 'node:fs/promises';
import { hasEmbeddedDatabase } from '#config/config.ts';
import { knownHome } from '#embedded-postgres/server-place.ts';
import type { DiskRoom } from '#http/server/operations.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { filesDirOf } from '#src/app/ordering/files-dir.ts';
import { diskRoomOf, nearestFolder } from '#src/app/reports/disk-room.ts';
import { advice, broken, type Finding, ok } from './finding.ts';
import { indexes } from './roles.ts';
import type { Subject } from './subject.ts';

/** A disk, with the settings whose data are on it. */
export interface DiskFacts extends DiskRoom {
  readonly settings: readonly string[];
  readonly path: string;
  readonly hasDatabase: boolean;
}

/** Facts that decide how much room the index needs. */
export interface DiskNeeds {
  /** Null: unknown. */
  readonly network: NetworkName | null;
  /** Bytes of the database. Null: unknown, because it cannot be read or does not exist. */
  readonly databaseBytes: number | null;
  /** Whether this process makes a first sync. */
  readonly indexes: boolean;
}

/**
 * Bytes of the database after a first sync, with 4 GB for the log of Postgres. Mainnet: calculated
 * (docs/performance.md, "What mainnet takes"). Other networks are not measured, and are much smaller.
 */
const firstSyncBytes: Readonly<Partial<Record<NetworkName, number>>> = { mainnet: 247e9 };
/** Free bytes below which a disk is soon full: Postgres alone writes up to 4 GB of log. */
const littleBytes = 5e9;
/** The same for networks whose blocks are small. */
const littleTestBytes = 1e9;
/** Free bytes below which the next block may not fit. */
const noRoomBytes = 100e6;

/** Free room on the disks of the service. */
export const diskSubject: Subject = {
  group: 'disk',
  name: 'the disks',
  examine: async ({ config, database }) => {
    const found = await database;
    const { dataDir, role } = config;
    const isEmbedded = hasEmbeddedDatabase(config);
    const places = [
      { setting: 'DATA_DIR', path: dataDir, hasDatabase: false },
      { setting: 'FILES_DIR', path: filesDirOf(config), hasDatabase: false },
    ];
    if (isEmbedded) {
      const home = await knownHome(dataDir).catch(() => null);
      places.unshift({ setting: 'the embedded Postgres', path: home ?? dataDir, hasDatabase: true });
    }
    const needs = {
      network: found?.network ?? config.network ?? null,
      databaseBytes: found?.bytes ?? null,
      indexes: indexes(role),
    };
    return judgeDisks(await disksOf(places), needs);
  },
};

/** One entry for each disk. */
async function disksOf(
  places: readonly { readonly setting: string; readonly path: string; readonly hasDatabase: boolean }[],
): Promise<DiskFacts[]> {
  const disks = new Map<number, DiskFacts>();
  for (const { setting, path, hasDatabase } of places) {
    const there = await stat(path).then(
      () => path,
      () => nearestFolder(path),
    );
    const { dev } = await stat(there);
    const known = disks.get(dev);
    disks.set(dev, {
      ...(known ?? { path: there, ...(await diskRoomOf(there)) }),
      settings: [...(known?.settings ?? []), setting],
      hasDatabase: hasDatabase || known?.hasDatabase === true,
    });
  }
  return [...disks.values()];
}

/** Judges the disks. Pure. */
export function judgeDisks(disks: readonly DiskFacts[], needs: DiskNeeds): Finding[] {
  return disks.map(({ settings, path, freeBytes, hasDatabase }) => {
    const check = 'disk.room';
    const where = `The disk of ${settings.join(' and ')} (${path}) has ${shownBytes(freeBytes)} free`;
    const little = needs.network === 'mainnet' ? littleBytes : littleTestBytes;
    if (freeBytes < noRoomBytes) return broken(check, `${where}: the next block may not fit.`, makeRoom);
    const missing = hasDatabase ? missingBytes(needs) : 0;
    if (freeBytes < missing)
      return advice(
        check,
        `${where}, and a first sync of ${needs.network} needs some ${shownBytes(missing)} more.`,
        'Use a larger disk before the first sync: name a folder on it with DATA_DIR.',
      );
    if (freeBytes < little) return advice(check, `${where}.`, makeRoom);
    return ok(check, `${where}.`);
  });
}

const makeRoom = 'Make room on it, or move the folder to a larger disk.';

/** Bytes that the database still needs until it has the whole chain. */
function missingBytes({ network, databaseBytes, indexes: isIndexer }: DiskNeeds): number {
  const whole = network === null || !isIndexer ? 0 : (firstSyncBytes[network] ?? 0);
  return Math.max(0, whole - (databaseBytes ?? 0));
}

const shownBytes = (bytes: number): string =>
  bytes < 1e9 ? `${Math.floor(bytes / 1e6)} MB` : `${Math.floor(bytes / 1e9)} GB`;

import { hasEmbeddedDatabase } from '#config/config.ts';
import { installedBinaries, missingLibraryLinks } from '#embedded-postgres/server-binaries.ts';
import { version } from '#kernel/process/version.ts';
import { advice, type Finding, failed, ok } from './finding.ts';
import type { Subject } from './subject.ts';

/** Versions of the programs on this machine. */
export interface VersionFacts {
  readonly program: string;
  readonly node: string;
  /** Null: the database is not embedded. */
  readonly embedded: { readonly version: string; readonly missingLinks: number } | null;
}

export const versionsSubject: Subject = {
  group: 'versions',
  name: 'the programs of this machine',
  examine: async ({ config }) => {
    const node = process.versions.node;
    if (!hasEmbeddedDatabase(config)) return judgeVersions({ program: version, node, embedded: null });
    try {
      const { root, packageVersion } = await installedBinaries();
      const missingLinks = (await missingLibraryLinks(root)).length;
      return judgeVersions({ program: version, node, embedded: { version: packageVersion, missingLinks } });
    } catch (error) {
      return [
        ...judgeVersions({ program: version, node, embedded: null }),
        failed('versions.postgres', error),
      ];
    }
  },
};

/** Judges the versions. The program itself refuses a Node.js that is too old. Pure. */
export function judgeVersions({ program, node, embedded }: VersionFacts): Finding[] {
  const findings = [ok('versions.program', `Satscribe ${program} runs on Node.js ${node}.`)];
  if (embedded === null) return findings;
  const { version: postgres, missingLinks } = embedded;
  findings.push(
    missingLinks === 0
      ? ok('versions.postgres', `The embedded Postgres ${postgres} is installed.`)
      : advice(
          'versions.postgres',
          `The embedded Postgres ${postgres} lacks ${missingLinks} links to its libraries, because npm ran no install scripts. The next start makes them, or copies the programs.`,
          'Run npm ci with scripts, or start the service once.',
        ),
  );
  return findings;
}

import { type Config, readEnvFile, settings } from '#config/config.ts';
import { wrongPayoutConfirmations, wrongTestPay } from '#config/order-settings.ts';
import { checkServedUtxos } from '#config/utxo-settings.ts';
import { answersRequests } from '#http/server/operations.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { nearestWord } from '#kernel/text/nearest-word.ts';
import { advice, broken, coded, type Finding, failed, ok } from './finding.ts';
import type { Subject } from './subject.ts';

/** Settings that contradict or weaken each other. */
export const settingsSubject: Subject = {
  group: 'settings',
  name: 'the settings',
  examine: async ({ config, database }) => {
    const served = (await database)?.network ?? null;
    return [
      ...judgeNames(Object.keys(readEnvFile())),
      ...judgeSettings(config, served ?? config.network ?? null, served),
    ];
  },
};

/** Judges the names of variables in the file of settings. Pure. */
export function judgeNames(names: readonly string[]): Finding[] {
  const known = settings.map(({ variable }) => variable);
  return names.flatMap((name) => {
    const near = known.includes(name) ? null : nearestWord(name, known);
    if (near === null) return [];
    return [
      advice(
        'settings.names',
        `The file .env sets ${name}, which is not a setting of Satscribe.`,
        `If ${near} is meant, correct the name. satscribe ignores unknown names.`,
      ),
    ];
  });
}

/**
 * Judges the settings. Pure.
 *
 * @param network the network of the database, or else of the settings. Null: it is unknown.
 * @param served the network of the database. Null: there is no index yet, or it cannot be read.
 */
export function judgeSettings(
  config: Config,
  network: NetworkName | null,
  served: NetworkName | null = null,
): Finding[] {
  const findings = [
    ...networkFindings(config, served),
    ...wrongOf(config, network),
    ...accessFindings(config),
    ...(config.allowPrivateUrls && network !== 'regtest'
      ? [
          advice(
            'settings.private-urls',
            'ALLOW_PRIVATE_URLS is true: clients can make this service call addresses of its own network.',
            'Remove ALLOW_PRIVATE_URLS. It is for tests.',
          ),
        ]
      : []),
    ...(config.failpoint === undefined
      ? []
      : [
          broken(
            'settings.failpoint',
            'FAILPOINT is set: the service kills itself at that point.',
            'Remove FAILPOINT. It is for tests.',
          ),
        ]),
  ];
  if (findings.length > 0) return findings;
  return [ok('settings.consistent', `The settings of the role ${config.role} do not contradict each other.`)];
}

/** The finding that the settings name another network than the database. */
function networkFindings({ network }: Config, served: NetworkName | null): Finding[] {
  if (network === undefined || served === null || network === served) return [];
  const message = `NETWORK is ${network}, but the database serves ${served}: the next start of the service will fail.`;
  return [coded('settings.network', { code: 'network_mismatch', message })];
}

/** Settings with which the service would not start. */
function wrongOf(config: Config, network: NetworkName | null): Finding[] {
  const wrong =
    network === null ? [] : [...wrongPayoutConfirmations(config, network), ...wrongTestPay(config, network)];
  const findings = wrong.map((message) =>
    broken('settings.network', message, 'Correct the setting that the message names.'),
  );
  try {
    checkServedUtxos(config);
  } catch (error) {
    findings.push(failed('settings.utxo-source', error));
  }
  return findings;
}

/** Settings of a service that answers clients. */
function accessFindings({ role, publicUrl, trustProxy, databaseUrl, databaseReaderUrl }: Config): Finding[] {
  if (!answersRequests(role)) return [];
  const findings: Finding[] = [];
  // this service itself speaks http only
  if (publicUrl?.startsWith('https:') === true && trustProxy === undefined)
    findings.push(
      advice(
        'settings.proxy',
        'PUBLIC_URL begins with https, and TRUST_PROXY is not set: all clients of the proxy count as one address, and share its limits.',
        'Set TRUST_PROXY to the address of the proxy, for example TRUST_PROXY=loopback.',
      ),
    );
  if (trustProxy !== undefined && publicUrl === undefined)
    findings.push(
      advice(
        'settings.public-url',
        'TRUST_PROXY is set, and PUBLIC_URL is not: the pages may search under any host that a request names.',
        'Set PUBLIC_URL to the public address of the pages.',
      ),
    );
  if (databaseUrl !== undefined && databaseReaderUrl === undefined)
    findings.push(
      advice(
        'settings.reader',
        'DATABASE_READER_URL is not set: requests are answered by the user of DATABASE_URL, which may change and drop every table.',
        'Create a role for answers, and name it with DATABASE_READER_URL (docs/install.md, "Two roles of the database").',
      ),
    );
  return findings;
}

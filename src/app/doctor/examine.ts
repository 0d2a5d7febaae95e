import type { CommandContext } from '#src/app/command-context.ts';
import { type ExaminedDatabase, examineDatabase } from './database.ts';
import { diskSubject } from './disk.ts';
import { filesSubject } from './files.ts';
import { broken, type Finding, failed, inGroups } from './finding.ts';
import { nodeSubject } from './node.ts';
import { searchSubject } from './search.ts';
import { serviceSubject } from './service.ts';
import { settingsSubject } from './settings.ts';
import type { Examination, Subject } from './subject.ts';
import { versionsSubject } from './versions.ts';
import { walletSubject } from './wallet.ts';
import { webhooksSubject } from './webhooks.ts';

export interface ExamineOptions {
  /** Time of this machine in ms since 1970. For tests. */
  readonly now?: () => number;
  /** How long a subject may take, in ms. For tests. */
  readonly subjectMs?: number;
}

/**
 * How long a subject may take, in ms. A connection to Postgres is given up after 10 s, and other subjects wait for its
 * result.
 */
const subjectMsDefault = 25_000;
/** Share of that time that the database may take, because other subjects read it afterwards. */
const databaseShare = 0.6;

const subjects: readonly Subject[] = [
  settingsSubject,
  versionsSubject,
  filesSubject,
  diskSubject,
  nodeSubject,
  searchSubject,
  walletSubject,
  webhooksSubject,
  serviceSubject,
];

/**
 * Examines the installation of the settings. All subjects are examined side by side, each with a time limit. Changes
 * nothing, takes no lock and starts no server.
 */
export async function examine(
  { config, lifecycle }: Pick<CommandContext, 'config'> & Pick<Examination, 'lifecycle'>,
  { now = Date.now, subjectMs = subjectMsDefault }: ExamineOptions = {},
): Promise<readonly Finding[]> {
  const examined = within<ExaminedDatabase>(
    subjectMs * databaseShare,
    () => examineDatabase({ config, lifecycle, now }),
    () => ({ findings: [late('database', 'Postgres', subjectMs * databaseShare)], usable: null }),
  );
  const database = examined.then(({ usable }) => usable);
  const findings = subjects.map((subject) =>
    within<readonly Finding[]>(
      subjectMs,
      (signal) =>
        subject
          .examine({ config, lifecycle, now, signal, database })
          .catch((error: unknown) => [failed(`${subject.group}.check`, error)]),
      () => [late(subject.group, subject.name, subjectMs)],
    ),
  );
  const all = await Promise.all([...findings, examined.then(({ findings: ofDatabase }) => ofDatabase)]);
  return inGroups(all.flat());
}

const late = (group: Subject['group'], name: string, ms: number): Finding =>
  broken(
    `${group}.check`,
    `The check of ${name} did not end within ${ms / 1000} s.`,
    'Find out why it hangs: read its log, and the load of its machine.',
  );

/** The result of work, or another one if the work takes too long. The work is then aborted, and not waited for. */
async function within<Result>(
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
  otherwise: () => Result,
): Promise<Result> {
  const controller = new AbortController();
  const over = Promise.withResolvers<Result>();
  const timer = setTimeout(() => over.resolve(otherwise()), ms);
  try {
    return await Promise.race([work(controller.signal), over.promise]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

import { parseArgs } from 'node:util';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { numberOption, OptionError } from '../options.ts';
import type { Report } from '../report.ts';
import { criticalSection } from './critical.ts';
import { noticeSection } from './notice.ts';
import type { Section } from './section.ts';
import { syncSection } from './sync.ts';
import { trackedSection } from './tracked.ts';

const sectionNames = ['notice', 'sync', 'critical', 'transfers', 'restart'] as const;
type SectionName = (typeof sectionNames)[number];

/** Minimum number of tracked outputs. It is more than the blocks of transfers spend. */
const leastTracked = 100_000;

export function bitcoind(): string {
  const found = bitcoindForTests();
  if (found === null) throw new OptionError('no bitcoind was found: scripts/install-bitcoind.sh');
  return found;
}

/** `npm run bench -- follow`: measures against a real node. */
export async function followBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      ord: { type: 'string' },
      megabytes: { type: 'string', default: '600' },
      blocks: { type: 'string', default: '20' },
      tracked: { type: 'string', default: '10000000' },
      rounds: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
    },
  });
  const only = (values.only ?? []).flatMap((each) => each.split(','));
  const unknown = only.find((name) => !sectionNames.includes(name as SectionName));
  if (unknown !== undefined) {
    throw new OptionError(`--only must be one of ${sectionNames.join(', ')}, not '${unknown}'`);
  }
  const isAsked = (name: SectionName): boolean => only.length === 0 || only.includes(name);
  const tracked = numberOption('tracked', values.tracked, leastTracked);
  const rounds = numberOption('rounds', values.rounds, 1);
  const blocks = numberOption('blocks', values.blocks, 1);
  const leastBytes = numberOption('megabytes', values.megabytes, 1) * 1e6;
  const sections: Section[] = [];
  if (isAsked('notice')) sections.push(await noticeSection(bitcoind(), values.seed, blocks));
  if (isAsked('sync')) {
    const ord = values.ord ?? null;
    sections.push(await syncSection({ bitcoind: bitcoind(), seed: values.seed, leastBytes, rounds, ord }));
  }
  if (isAsked('critical')) {
    sections.push(await criticalSection({ bitcoind: bitcoind(), seed: values.seed, leastBytes, rounds }));
  }
  if (isAsked('transfers') || isAsked('restart')) {
    sections.push(await trackedSection(tracked, isAsked('transfers')));
  }
  const stages = sections.flatMap((section) => section.stages ?? []);
  return {
    bench: 'follow',
    notes: sections.flatMap(({ notes }) => notes),
    figures: sections.flatMap(({ figures }) => figures),
    details: sections.flatMap(({ details }) => details),
    tables: sections.flatMap(({ tables }) => tables ?? []),
    ...(stages.length === 0 ? {} : { stages }),
  };
}

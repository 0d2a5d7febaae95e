import { parseArgs } from 'node:util';
import { numberOption, OptionError } from '../options.ts';
import type { Report } from '../report.ts';
import type { Section } from './section.ts';
import { trackedSection } from './tracked.ts';

const sectionNames = ['notice', 'sync', 'transfers', 'restart'] as const;
type SectionName = (typeof sectionNames)[number];

/** More than the outputs that the blocks of transfers spend. */
const leastTracked = 100_000;

/** `npm run bench -- follow`: beside a real node. */
export async function followBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      ord: { type: 'string' },
      megabytes: { type: 'string', default: '300' },
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
  const sections: Section[] = [];
  if (isAsked('transfers') || isAsked('restart')) {
    sections.push(await trackedSection(tracked, isAsked('transfers')));
  }
  return {
    bench: 'follow',
    notes: sections.flatMap(({ notes }) => notes),
    figures: sections.flatMap(({ figures }) => figures),
    details: sections.flatMap(({ details }) => details),
  };
}

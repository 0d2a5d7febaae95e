import type { Outcome } from './check-words.ts';
import { gitOutput, isCheckout } from './git.ts';

const lengthMax = 72;
/**
 * The form of a subject: the area in lower-case words, which may have hyphens and slashes, then a verb in lower case
 * and its object.
 */
const form = /^[a-z0-9]+(?:[-/ ][a-z0-9]+)*: ([a-z]+(?:-[a-z]+)*) \S.*$/u;
/** Verbs whose base form ends in "-s" or "-ed". Verbs in "-ss", such as "pass", need no entry. */
const plainForms = new Set([
  'alias',
  'bias',
  'canvas',
  'embed',
  'exceed',
  'feed',
  'focus',
  'need',
  'proceed',
  'seed',
  'shed',
  'speed',
  'bring',
  'ping',
  'spring',
  'string',
  'swing',
  'wring',
]);

/** The reason why a subject is not "area: verb object" in at most 72 characters, or null if it is. */
export function subjectFault(subject: string): string | null {
  if (subject.length > lengthMax) return `${subject.length} characters, at most ${lengthMax}`;
  const verb = form.exec(subject)?.[1];
  if (verb === undefined) return 'not "area: verb object" in lower case';
  if (!plainForms.has(verb) && /(?:[^s]s|ed|ing)$/u.test(verb)) return `"${verb}" is not an imperative`;
  return subject.endsWith('.') ? 'ends with a full stop' : null;
}

/** The file whose first commit starts the rule. No hash is stored, so a rebase changes nothing. */
const since = 'scripts/forbid/commit-subjects.ts';

/**
 * Checks the subjects of commits after the one that added the rule, except merges. In a shallow clone the oldest commit
 * seems to have added all of its files, so only later commits are checked. Without git, nothing is checked.
 */
export function checkSubjects(root: string): Outcome {
  if (!isCheckout(root))
    return { faults: [], notes: ['not a git checkout: subjects of commits are not checked'] };
  const start = gitOutput(
    root,
    'log',
    '-1',
    '--format=%H',
    '--diff-filter=A',
    '--no-renames',
    '--',
    since,
  )?.trim();
  // the file is not committed yet
  if (start === undefined || start === '') return { faults: [], notes: [] };
  const subjects = gitOutput(root, 'log', '--no-merges', '--format=%h %s', `${start}..HEAD`) ?? '';
  const faults = subjects.split('\n').flatMap((line) => {
    const [, hash = '', subject = ''] = /^(\S+) (.*)$/u.exec(line) ?? [];
    const fault = hash === '' ? null : subjectFault(subject);
    return fault === null ? [] : [`  ${hash} ${subject}: ${fault}`];
  });
  if (faults.length === 0) return { faults: [], notes: [] };
  const rule = `subjects of commits are "area: verb object", imperative, at most ${lengthMax} characters:`;
  return { faults: [[rule, ...faults].join('\n')], notes: [] };
}

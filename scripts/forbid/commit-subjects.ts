import type { Outcome } from './check-words.ts';
import { gitOutput, isCheckout } from './git.ts';

const lengthMax = 72;
/** Lower-case words of the area, with hyphens and slashes, then a verb in lower case and its object. */
const form = /^[a-z0-9]+(?:[-/ ][a-z0-9]+)*: ([a-z]+(?:-[a-z]+)*) \S.*$/u;
/** Verbs whose plain form ends in "-s" or "-ed". Verbs in "-ss", such as "pass", need no entry. */
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

/** Why a subject is not "area: verb object" in at most 72 characters, or null. */
export function subjectFault(subject: string): string | null {
  if (subject.length > lengthMax) return `${subject.length} characters, at most ${lengthMax}`;
  const verb = form.exec(subject)?.[1];
  if (verb === undefined) return 'not "area: verb object" in lower case';
  if (!plainForms.has(verb) && /(?:[^s]s|ed|ing)$/u.test(verb)) return `"${verb}" is not an imperative`;
  return subject.endsWith('.') ? 'ends with a full stop' : null;
}

/** Commits since the one that added this file follow the rule: no hash is stored, so a rebase changes nothing. */
const since = 'scripts/forbid/commit-subjects.ts';

/**
 * Checks subjects of the commits after the one that added the rule; merges are exempt. In a shallow clone the oldest
 * commit counts as the one that added all of its files, so only later commits are checked. Without git, nothing is
 * checked.
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
  // not yet committed
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

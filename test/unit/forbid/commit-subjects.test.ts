import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkSubjects, subjectFault } from '#scripts/forbid/commit-subjects.ts';

describe('the subject of a commit', () => {
  test.each([
    'orders: refund deposits below dust to the fee account',
    'src/http: move the app up',
    'docs and tests: name the new rooms',
    'order-kit: pass the seed',
    'chain: seed a snapshot',
    'search: re-read a segment',
    'http: answer 404 for "x"',
  ])('may be "%s"', (subject) => {
    expect(subjectFault(subject)).toBeNull();
  });

  test.each([
    ['Say how a first sync fares', 'lower case'],
    ['orders: Refund deposits', 'lower case'],
    ['Orders: refund deposits', 'lower case'],
    ['orders refund deposits', 'lower case'],
    ['orders:refund deposits', 'lower case'],
    ['orders: refund', 'lower case'],
    ['Revert "orders: refund deposits"', 'lower case'],
    ['orders: refunds deposits', 'imperative'],
    ['orders: refunded deposits', 'imperative'],
    ['orders: refunding deposits', 'imperative'],
    ['orders: refund deposits.', 'full stop'],
    [`orders: refund ${'d'.repeat(60)}`, '75 characters'],
  ])('may not be "%s"', (subject, fault) => {
    expect(subjectFault(subject)).toContain(fault);
  });
});

describe('the check of subjects', () => {
  let folder: string;
  let root: string;

  function git(cwd: string, ...args: readonly string[]): void {
    const name = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...name, ...args], { cwd, stdio: 'ignore' });
  }
  const commit = (subject: string): void => git(root, 'commit', '--allow-empty', `--message=${subject}`);
  const faultsIn = (checkout: string): string => checkSubjects(checkout).faults.join('\n');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'subjects-'));
    root = join(folder, 'here');
    mkdirSync(join(root, 'scripts/forbid'), { recursive: true });
    git(root, 'init', '--initial-branch=trunk');
    commit('Before the rule');
    writeFileSync(join(root, 'scripts/forbid/commit-subjects.ts'), '');
    git(root, 'add', '.');
    commit('The rule itself');
    commit('orders: refund deposits');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('begins after the commit that added the rule', () => {
    expect(checkSubjects(root)).toEqual({ faults: [], notes: [] });
    commit('Refund deposits');
    expect(faultsIn(root)).toMatch(/^subjects .*\n {2}\w{7,} Refund deposits: not "area/u);
  });

  test('lets merges be', { tags: ['proof'] }, () => {
    git(root, 'checkout', '-b', 'other', 'HEAD~1');
    commit('wallet: sign a burn');
    git(root, 'checkout', 'trunk');
    git(root, 'merge', '--no-edit', 'other');
    expect(checkSubjects(root)).toEqual({ faults: [], notes: [] });
  });

  test('works in a fresh clone, and in one without history', { tags: ['proof'] }, () => {
    commit('Refund deposits');
    commit('orders: name a fault');
    git(folder, 'clone', root, 'whole');
    expect(faultsIn(join(folder, 'whole'))).toContain('Refund deposits');
    for (const [depth, fault] of [
      ['1', ''],
      ['3', 'Refund deposits'],
    ] as const) {
      git(folder, 'clone', `--depth=${depth}`, `file://${root}`, `shallow-${depth}`);
      expect(faultsIn(join(folder, `shallow-${depth}`))).toContain(fault);
      expect(checkSubjects(join(folder, `shallow-${depth}`)).faults).toHaveLength(fault === '' ? 0 : 1);
    }
  });

  test('is left out with a line in an archive, within another checkout too', () => {
    commit('Refund deposits');
    for (const archive of [join(folder, 'archive'), join(root, 'archive')]) {
      cpSync(join(root, 'scripts'), join(archive, 'scripts'), { recursive: true });
      expect(checkSubjects(archive)).toMatchObject({
        faults: [],
        notes: [expect.stringContaining('not checked')],
      });
    }
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { commands } from '#src/cli.ts';
import { completionScript, shells, valuesOf, wordsOf } from '#src/commands/setup/completion-script.ts';

/** Completes each line in one real bash, and returns the words for each. */
function completed(lines: readonly (readonly string[])[]): string[][] {
  const asked = lines.map(
    (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _satscribe; echo "\${COMPREPLY[*]}"`,
  );
  const script = `${completionScript('bash', commands)}\ncomplete -p satscribe\n${asked.join('\n')}\n`;
  const [registered, ...found] = execFileSync('bash', ['--norc', '-s'], { input: script, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  expect(registered).toBe('complete -F _satscribe satscribe');
  return lines.map((_, place) => (found[place] ?? '').split(' ').filter((word) => word !== ''));
}

describe('in a real bash', () => {
  test('every command is completed', () => {
    const [all, begun] = completed([
      ['satscribe', ''],
      ['satscribe', 'ini'],
    ]);
    expect(all).toEqual([...commands.map(({ name }) => name), 'help', '--help', '--version']);
    expect(begun).toEqual(['init']);
  });

  test('every object, action and flag of every command is completed', () => {
    const found = completed(commands.map(({ name }) => ['satscribe', name, '']));
    for (const [place, command] of commands.entries())
      expect(found[place], command.name).toEqual([
        ...wordsOf(command),
        ...command.flags.map(({ name }) => `--${name}`),
        '--help',
      ]);
  });

  test.each([
    ['doctor', ['compare']],
    ['payouts', ['held', 'hold', 'release', 'cancel']],
    ['wallet', ['recover', 'coins', 'kit']],
    ['accounts', ['create', 'list']],
    ['restore', []],
  ])('the actions of %s, which its help shortens', (name, actions) => {
    const [found] = completed([['satscribe', name, '']]);
    expect(found).toEqual(expect.arrayContaining(actions));
    expect(found).not.toContain('…');
  });

  test('every flag with allowed values completes these, and a flag for a file completes files', () => {
    const flags = commands.flatMap((command) =>
      command.flags
        .filter((flag) => valuesOf(flag).length > 0 && flag.value !== null)
        .map((flag) => ({ command, flag })),
    );
    expect(flags.length).toBeGreaterThan(10);
    const found = completed(
      flags.map(({ command, flag }) => ['satscribe', command.name, `--${flag.name}`, '']),
    );
    for (const [place, { flag }] of flags.entries()) expect(found[place]).toEqual(valuesOf(flag));
    expect(completed([['satscribe', 'serve', '--data', 'package.js']])).toEqual([['package.json']]);
  });
});

test.each(shells)('the script for %s is accepted by that shell, if it is installed', (shell) => {
  const script = completionScript(shell, commands);
  for (const { name } of commands) expect(script).toContain(name);
  const { status, error } = spawnSync(shell, ['-n'], { input: script });
  if (error === undefined) expect(status).toBe(0);
});

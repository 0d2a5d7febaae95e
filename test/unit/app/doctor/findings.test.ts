import { expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import {
  advice,
  broken,
  exitCodeOf,
  type Finding,
  failed,
  inGroups,
  ok,
  worstOf,
} from '#src/app/doctor/finding.ts';

const fine = ok('node.rest', 'REST answers.');
const better = advice('disk.room', 'Little room.', 'Make room.');
const bad = broken('settings.failpoint', 'It kills itself.', 'Remove it.');

test.each([
  [[], 'ok', 0],
  [[fine], 'ok', 0],
  [[fine, better], 'advice', 1],
  [[bad, fine, better], 'broken', 2],
] as const)('the worst finding decides the level and the exit code %#', (findings, level, exitCode) => {
  expect(worstOf(findings)).toBe(level);
  expect(exitCodeOf(worstOf(findings))).toBe(exitCode);
});

test('findings are sorted by group', () => {
  expect(inGroups([fine, better, bad])).toEqual([bad, better, fine]);
});

test('a failure with a code has the action of the code', () => {
  const found = failed('node.check', new AppError('node_unreachable', 'No answer.'));
  expect(found).toEqual<Finding>({
    check: 'node.check',
    level: 'broken',
    message: 'No answer.',
    action: errorCodes.node_unreachable.action,
  });
});

test('errors of the system and of Postgres get their code, and others are shown', () => {
  const refused = Object.assign(new Error('permission denied'), { code: '42501' });
  expect(failed('database.check', refused)).toMatchObject({
    level: 'broken',
    action: errorCodes.postgres_refused.action,
  });
  const system = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open' });
  expect(failed('files.check', system).action).toBe(errorCodes.file_unusable.action);
  expect(failed('files.check', new Error('odd'))).toMatchObject({
    level: 'broken',
    message: 'The check ended with an unexpected error: odd',
  });
});

import { expect, test } from 'vitest';
import { backupLine, megabytes } from '#src/commands/backups/backup-lines.ts';

test.each([
  [{ step: 'tables', done: 1, of: 4 } as const, '[#######---------------------] 25 %, tables are written'],
  [{ step: 'load', done: 5, of: 4 } as const, '[############################] 100 %, tables are loaded'],
  // a service without files
  [
    { step: 'check of files', done: 0, of: 0 } as const,
    '[############################] 100 %, files are checked',
  ],
  [
    { searched: 0, end: 0, percent: null, found: 0 },
    '[----------------------------] addresses are derived, 0 outputs found',
  ],
])('progress %j is a bar', (state, line) => expect(backupLine(state)).toBe(line));

test('bytes are shown in MB', () => expect(megabytes(1_234_567)).toBe('1.2 MB'));

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorCodes } from '#kernel/errors/error-codes.ts';

test('a code is in the file of one subject, and each of these files is in the table', async () => {
  const folder = join(import.meta.dirname, '../../../../src/kernel/errors');
  const codes: string[] = [];
  for (const file of globSync('*-errors.ts', { cwd: folder })) {
    const parts = (await import(join(folder, file))) as Record<string, object>;
    for (const part of Object.values(parts)) codes.push(...Object.keys(part));
  }
  expect(codes.toSorted()).toEqual(Object.keys(errorCodes).toSorted());
});

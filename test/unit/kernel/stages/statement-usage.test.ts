import { expect, test } from 'vitest';
import { usageOf } from '#kernel/stages/statement-usage.ts';

/** A report as PostgreSQL 18 sends it. */
const detail = `! system usage stats:
!\t0.000250 s user, 0.001361 s system, 0.012362 s elapsed
!\t[1.500000 s user, 0.004146 s system total]
!\t16752 kB max resident size
!\t0/0 [0/0] filesystem blocks in/out`;

test('reads the usage of a message, not of the process so far', () => {
  for (const title of ['QUERY', 'PARSE MESSAGE', 'BIND MESSAGE', 'EXECUTE MESSAGE']) {
    const { cpuMs, ms } = usageOf({ message: `${title} STATISTICS`, detail })!;
    expect([cpuMs, ms]).toEqual([expect.closeTo(1.611), expect.closeTo(12.362)]);
  }
});

test('ignores other notices', () => {
  expect(usageOf({ message: 'PARSER STATISTICS', detail })).toBeNull();
  expect(usageOf({ message: 'relation "x" does not exist, skipping', detail: undefined })).toBeNull();
});

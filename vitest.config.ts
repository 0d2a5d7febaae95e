import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { databaseFolder } from './test/support/database-folder.ts';

// Tests start hundreds of our processes and threads. With the compiled code of the first ones a service starts in half
// of the processor time, a parse thread in a third.
// oxlint-disable-next-line node/no-process-env -- what it starts inherits it
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

// Folders of blocks, nodes and Elasticsearch are made and deleted by the hundred: in memory, where there is room.
// oxlint-disable-next-line node/no-process-env -- what it starts inherits it
process.env['TMPDIR'] = databaseFolder();

// oxlint-disable-next-line node/no-process-env -- where it runs is known by its environment alone
const isCi = process.env['CI'] === 'true';
// oxlint-disable-next-line node/no-process-env -- test/support/property-runs.ts reads it too
const isLong = process.env['TEST_RUNS'] !== undefined;

const shared = {
  globals: false,
  restoreMocks: true,
  sequence: { shuffle: true },
  setupFiles: ['test/support/fail-on-console.ts', 'test/support/property-seed.ts'],
};

/**
 * One process per test file. On processors with protection keys (PKU) V8 keeps a register of its code pages, and loses
 * track when hundreds of threads end: "Check failed: jit_page.has_value()" aborted a test process once in three runs.
 * The service starts its threads only once. The flag exists where the register does.
 */
const hasProtectionKeys = process.platform === 'linux' && process.arch === 'x64';
const processes = {
  pool: 'forks' as const,
  // On a busy machine of CI a clock of seconds runs out before a server has answered. The suite ends by naming each
  // test that passed only at its second try (scripts/test.sh): it is mended, not forgotten.
  retry: isCi ? 1 : 0,
  execArgv: hasProtectionKeys ? ['--no-memory-protection-keys'] : [],
};

/**
 * Marks a test of minutes, or one that walks a list whose head another test walks. `npm test` leaves these out, and
 * `npm run test:proofs` runs them: the suite stays short, and each stays beside the tests of what it is about (ADR 59).
 */
const proof = {
  name: 'proof',
  description: 'takes minutes: npm run test:proofs',
  timeout: 900_000,
};

export default defineConfig({
  test: {
    // every project knows them
    tags: [proof],
    // CI repeats an order that was tried before, as it does with the cases of properties
    // (test/support/property-seed.ts). Vitest reads the seed here alone: a seed of a project has no effect.
    ...(isCi && { sequence: { seed: 1 } }),
    // tests wait half of the time for servers and clocks: with one per core (of two) half of the machine was idle, with
    // three a seventh
    maxWorkers: 4,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'threads',
          // some start processes and measure them; as below, a second try is named at the end of the run
          retry: isCi ? 1 : 0,
          // they share modules: loading these took a third of their processor time
          isolate: false,
          // in a long run 5,000 random chains take a minute and a half on an idle machine
          testTimeout: isLong ? 600_000 : 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          ...processes,
          // the files of a process share modules, as those of unit tests do
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...shared,
          // after all others: beside them others are served so slowly that an attack shows nothing
          sequence: { ...shared.sequence, groupOrder: 1 },
          name: 'attack',
          include: ['test/attack/**/*.test.ts'],
          ...processes,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...shared,
          // minutes of processes and servers that are killed and started: `npm run test:proofs`
          name: 'proofs',
          include: ['test/proofs/**/*.test.ts', 'test/chaos/**/*.test.ts'],
          ...processes,
          fileParallelism: false,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 600_000,
          hookTimeout: 400_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          ...processes,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Tests start hundreds of processes and threads of ours. With what the first of each compiled a service starts with half of
// the processor time, a parse thread with a third.
// oxlint-disable-next-line node/no-process-env -- what it starts inherits it
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

const shared = {
  globals: false,
  restoreMocks: true,
  sequence: { shuffle: true },
  setupFiles: ['test/support/fail-on-console.ts'],
};

/**
 * Processes, of one test file each. V8 counts its pages of code where the processor has protection keys (PKU), and loses count
 * with hundreds of threads that end: "Check failed: jit_page.has_value()" aborted a process of tests once in three runs. The
 * service starts its threads once. V8 has the flag where it has the books.
 */
const hasProtectionKeys = process.platform === 'linux' && process.arch === 'x64';
const processes = {
  pool: 'forks' as const,
  execArgv: hasProtectionKeys ? ['--no-memory-protection-keys'] : [],
};

export default defineConfig({
  test: {
    // half of the time a test waits for servers and clocks: with one a core (of two) half of the machine was idle
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          pool: 'threads',
          // they share modules: loading these took a third of their processor time
          isolate: false,
          testTimeout: 120_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          ...processes,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          ...processes,
          // behind all others: it brings half a dozen processes of its own
          sequence: { ...shared.sequence, groupOrder: 1 },
          testTimeout: 600_000,
        },
      },
      {
        test: {
          ...shared,
          // minutes of servers that are killed and started: `npm run test:faults`
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          ...processes,
          fileParallelism: false,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 400_000,
          hookTimeout: 400_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          ...processes,
          fileParallelism: false,
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

import { afterEach, beforeEach, vi } from 'vitest';

// Fails tests that print, because output that matters needs an assertion.
const restores: (() => void)[] = [];

beforeEach(() => {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    const spy = vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
      throw new Error(`console.${method} in a test: ${values.map(String).join(' ')}`);
    });
    restores.push(() => spy.mockRestore());
  }
});

afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

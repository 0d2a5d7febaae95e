import { afterEach, beforeEach, vi } from 'vitest';

// A test that prints has not said what it expects: output is an assertion somebody forgot.
const spies: ReturnType<typeof vi.spyOn>[] = [];

beforeEach(() => {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    spies.push(
      vi.spyOn(console, method).mockImplementation((...values: unknown[]) => {
        throw new Error(`console.${method} in a test: ${values.map(String).join(' ')}`);
      }),
    );
  }
});

afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
});

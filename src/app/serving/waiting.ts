import { buildWaitingApp } from '#http/waiting-app.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { listen } from './listen.ts';

export interface Waited<T> {
  readonly value: T;
  readonly port: number;
  /** Frees the port. Call it just before the next listener opens the port. */
  release(this: void): Promise<void>;
}

/**
 * Tells clients that this process waits, and the reason. It does so during the work and after it, until the port is
 * released for the API.
 */
export async function serveWhileWaiting<T>(
  { config, health, lifecycle, logger }: CommandContext,
  work: () => Promise<T>,
): Promise<Waited<T>> {
  const app = buildWaitingApp({
    logger: logger.child({ part: 'http' }),
    problems: () => health.problems(),
  });
  lifecycle.add('http while waiting', () => app.close());
  const port = await listen(app, config.host, config.port);
  try {
    return { value: await work(), port, release: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

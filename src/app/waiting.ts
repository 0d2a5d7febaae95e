import { buildWaitingApp } from '#http/waiting-app.ts';
import type { CommandContext } from '#src/commands/command.ts';
import { listen } from './listen.ts';

/** Answers that this process waits, and for what, while work goes on; then the port is free again for the API. */
export async function serveWhileWaiting<T>(
  { config, health, lifecycle, logger }: CommandContext,
  work: () => Promise<T>,
): Promise<{ value: T; port: number }> {
  const app = buildWaitingApp({
    logger: logger.child({ part: 'http' }),
    problems: () => health.problems(),
  });
  lifecycle.add('http while waiting', () => app.close());
  const port = await listen(app, config.host, config.port);
  try {
    return { value: await work(), port };
  } finally {
    await app.close();
  }
}

import { createRequire } from 'node:module';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Logs go to stderr: stdout is for results (`ready …`, exported lines). */
const stderr = 2;

/**
 * The logger of the process; each part takes a child of it. Pretty on a terminal where pino-pretty is installed (it is a
 * development dependency), lines of JSON everywhere else. Written synchronously: the last line before an end is there.
 */
export function createLogger(level: string): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (isatty(stderr)) {
    const pretty = prettyStream();
    if (pretty !== null) return pino(options, pretty);
  }
  return pino(options, pino.destination({ dest: stderr, sync: true }));
}

type PrettyFactory = (options: Record<string, unknown>) => NodeJS.WritableStream;

function prettyStream(): NodeJS.WritableStream | null {
  try {
    const factory = createRequire(import.meta.url)('pino-pretty') as PrettyFactory;
    return factory({ destination: stderr, sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss' });
  } catch {
    return null;
  }
}

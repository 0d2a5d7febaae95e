import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { terminalLines } from '#kernel/text/terminal-text.ts';
import { peopleLine, terminalPaint } from './people-lines.ts';

export type { Logger } from 'pino';

/** File descriptor of logs. Logs go to stderr, because stdout is for results (`ready …`, exported lines). */
const stderr = 2;

/** Format of the log. `auto` writes lines for people on a terminal, and JSON in a pipe or a file. */
export type LogFormat = 'auto' | 'pretty' | 'json';

/**
 * The logger of the process. Each part has a child of this logger. Lines are written synchronously, so the last line
 * before an exit is not lost.
 */
export function createLogger(level: string, format: LogFormat = 'auto'): Logger {
  const isForPeople = format === 'pretty' || (format === 'auto' && isatty(stderr));
  const destination = pino.destination({ dest: stderr, sync: true });
  return isForPeople
    ? loggerInto(destination, level, (line) => peopleLine(line, terminalPaint))
    : loggerInto(destination, level);
}

/**
 * The same logger with another destination. People read its lines on terminals, so control characters are escaped.
 * Escaping does not change the values in the JSON.
 *
 * @param shown turns a line of JSON into the destination's text
 */
export function loggerInto(
  destination: DestinationStream,
  level: string,
  shown: (line: string) => string = (line) => line,
): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: shownError, error: shownError },
    // `redact` hides values by key, in any object; the hook hides secrets within texts
    redact: { paths: secretPaths, censor: hidden },
    hooks: { streamWrite: (line) => shown(terminalLines(withoutPasswords(line))) },
  };
  return pino(options, destination);
}

const hidden = '***';
const secretKeys = ['password', 'secretKey', 'authorization', 'cookie', '["x-api-key"]'];
const secretPaths = secretKeys.flatMap((key) =>
  key.startsWith('[') ? [key, `*${key}`, `*.*${key}`] : [key, `*.${key}`, `*.*.${key}`],
);

/**
 * Matches ids of orders after the words and paths that precede such ids. The first eight digits of an id stay, because
 * they are enough to find an order.
 */
const orderIds =
  /((?:\b(?:order|refund|token) |"order":"|\/(?:order|checkout|refund)\/)[0-9a-f]{8})-[-0-9a-f]{27}/giu;

/**
 * Removes secrets from a line. Secrets are user and password of any URL (a user alone may be a token), keys of this
 * service, and queries of the feeds of watches, which have tokens. Ids of orders are secrets too, because an id gives
 * access to its order. No secret may contain a quote, so a match never goes beyond its JSON text.
 */
function withoutPasswords(line: string): string {
  return line
    .replaceAll(/:\/\/[^\s"/?#]+@/gu, `://${hidden}@`)
    .replaceAll(/(satscribe_[0-9a-f]{8})[0-9a-f]{40}/gu, `$1${hidden}`)
    .replaceAll(/(\/(?:searches|watches)\/[^\s"?]*\.atom\?)[^\s"]+/gu, `$1${hidden}`)
    .replaceAll(orderIds, `$1${hidden}`);
}

/** An error in the form of the log. */
export interface ShownError {
  readonly type: string;
  readonly message: string;
  /** Code of an AppError or of the system, or SQLSTATE. */
  readonly code?: string | number;
  readonly details?: unknown;
  readonly stack?: string;
  readonly cause?: ShownError;
}

/**
 * Maximum number of causes that are shown. There are about as many layers. The limit also stops a cyclic chain of
 * causes.
 */
const causesMax = 5;

/**
 * Message, code, stack and causes of an error. Its other properties are left out, because the error of a lost
 * connection contains the entire client, including keys.
 */
export function shownError(error: unknown, depth = 0): ShownError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { code, details } = error as { code?: unknown; details?: unknown };
  const isOurs = error.name === 'AppError';
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(isOurs && details !== undefined && Object.keys(details as object).length > 0 ? { details } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth >= causesMax ? {} : { cause: shownError(error.cause, depth + 1) }),
  };
}

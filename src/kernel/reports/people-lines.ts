import { styleText } from 'node:util';
import { terminalLines, terminalText } from '#kernel/text/terminal-text.ts';

/** Styles of the parts of a line. */
export type Style = 'dim' | 'yellow' | 'red';
export type Paint = (style: Style, text: string) => string;

/** Colours of a terminal. There are no colours if stderr is a file or NO_COLOR is set; `styleText` checks this. */
export const terminalPaint: Paint = (style, text) => styleText(style, text, { stream: process.stderr });

interface LogRecord {
  readonly [key: string]: unknown;
}

/** Keys that have their own position in a line. */
const placed = new Set(['level', 'time', 'part', 'msg', 'code', 'reason', 'advice', 'err', 'error']);

/** Words for pino's numbers of levels. `info` has no word, because most lines have this level. */
const levelWords: Readonly<Record<number, readonly [word: string, style: Style]>> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  40: ['warning', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};
/**
 * Minimum level at which a failure without an error code of this program is treated as a defect. Its stack is then
 * shown.
 */
const stackFromLevel = 50;

/**
 * Turns a line of the log's JSON into a line for people, with time, level, part, message, its reason, values, and
 * remedy. Never throws: text that is not a record is returned unchanged. Control characters of terminals are escaped.
 */
export function peopleLine(json: string, paint: Paint): string {
  const record = recordOf(json);
  if (record === null) return json;
  const { level, part, msg, code, reason, advice } = record;
  const word = levelWords[Number(level)];
  const head = [
    paint('dim', clockOf(record['time'])),
    word === undefined ? null : paint(word[1], word[0]),
    typeof part === 'string' ? paint('dim', `${terminalText(part)}:`) : null,
  ];
  const error = record['err'] ?? record['error'];
  const sayings = [msg, reason, ...(isRecord(error) ? messagesOf(error) : [])].filter(isText);
  const values = Object.entries(record).flatMap(([key, value]) =>
    placed.has(key) ? [] : [`${terminalText(key)}=${shownValue(value)}`],
  );
  if (isText(code)) values.unshift(`code=${terminalText(code)}`);
  const tail = [
    values.length === 0 ? null : paint('dim', values.join(' ')),
    isText(advice) ? terminalText(advice) : null,
  ];
  const words = [...head, joined(sayings.map((saying) => terminalText(saying))), ...tail];
  const line = words.filter((each) => each !== null && each !== '').join(' ');
  return `${line}${stackOf(error, Number(level))}\n`;
}

function recordOf(json: string): LogRecord | null {
  try {
    const parsed: unknown = JSON.parse(json);
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is LogRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The time of day in the terminal's time zone. */
function clockOf(time: unknown): string {
  const date = new Date(typeof time === 'string' ? time : Number.NaN);
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8);
}

/**
 * Joins sentences and parts of sentences. A colon follows a text that does not end with a full stop or a similar mark.
 */
const joined = (sayings: readonly string[]): string =>
  sayings.reduce(
    (all, saying) => (all === '' ? saying : `${all}${/[.:!?]$/u.test(all) ? '' : ':'} ${saying}`),
    '',
  );

/** Messages of an error and its causes, without repeats. An error often repeats the message of its cause. */
function messagesOf(error: LogRecord): string[] {
  const messages: string[] = [];
  for (let each: unknown = error; isRecord(each); each = each['cause']) {
    const { message } = each;
    if (isText(message) && !messages.some((told) => told.includes(message))) messages.push(message);
  }
  return messages;
}

/** Stack of a defect. Failures with an error code of this program have a complete message instead. */
function stackOf(error: unknown, level: number): string {
  if (!isRecord(error) || level < stackFromLevel || error['type'] === 'AppError') return '';
  const { stack } = error;
  if (!isText(stack)) return '';
  const frames = stack.split('\n').filter((line) => /^\s+at /u.test(line));
  return frames.length === 0 ? '' : `\n${terminalLines(frames.join('\n'))}`;
}

/**
 * Formats a value. Words are written unchanged. Everything else is written as JSON, so that the end of a value is
 * clear.
 */
function shownValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/u.test(value)) return terminalText(value);
  return terminalText(JSON.stringify(value) ?? 'null');
}

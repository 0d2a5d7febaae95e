import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Logger, loggerInto } from '#kernel/reports/logger.ts';
import { peopleLine } from '#kernel/reports/people-lines.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const bare = (_style: string, text: string): string => text;

function recording(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const shown = (line: string): string => peopleLine(line, bare);
  return { logger: loggerInto({ write: (line) => lines.push(line) }, 'trace', shown), lines };
}

/** A line without its time. */
const worded = (line: string | undefined): string => (line ?? '').replace(/^\d\d:\d\d:\d\d /u, '');

describe('a line of the log for people', () => {
  test('has the time, the part, the message and its values', () => {
    const { logger, lines } = recording();
    logger.child({ part: 'follower' }).info({ height: 111, hash: '00ab', names: ['a b'] }, 'block');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d /u);
    expect(worded(lines[0])).toBe('follower: block height=111 hash=00ab names=["a b"]\n');
  });

  test('names each level but info', () => {
    const { logger, lines } = recording();
    for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) logger[level]('x');
    expect(lines.map(worded)).toEqual([
      'trace x\n',
      'debug x\n',
      'x\n',
      'warning x\n',
      'error x\n',
      'fatal x\n',
    ]);
  });

  test('has the reason and the remedy as sentences', () => {
    const { logger, lines } = recording();
    const said = { code: 'node_unreachable', reason: 'The node is away.', advice: 'Start it.' };
    logger.warn(said, 'waiting for the node');
    expect(worded(lines[0])).toBe(
      'warning waiting for the node: The node is away. code=node_unreachable Start it.\n',
    );
  });

  test('has the messages of a failure and of its causes once each, and no stack', () => {
    const { logger, lines } = recording();
    const cause = new Error('connect ECONNREFUSED');
    const failure = new AppError('node_unreachable', 'It is away.', {}, new Error('no answer', { cause }));
    logger.error({ err: failure }, 'a call failed');
    expect(worded(lines[0])).toBe('error a call failed: It is away. no answer: connect ECONNREFUSED\n');
    logger.warn({ err: new Error('odd') }, 'x');
    expect(worded(lines[1])).toBe('warning x: odd\n');
  });

  test('has the stack of a defect', () => {
    const { logger, lines } = recording();
    logger.error({ err: new Error('broken') }, 'x');
    expect(lines[0]).toMatch(/error x: broken\n +at .*people-lines\.test\.ts/u);
  });

  test('is one line of printable text, whatever was logged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
        const { logger, lines } = recording();
        logger.info({ value, [text]: text, reason: text }, text);
        expect(lines[0]?.match(/\n/gu)).toHaveLength(1);
        expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  test('stays as it is if it is no record', () => {
    expect(peopleLine('no JSON\n', bare)).toBe('no JSON\n');
    expect(peopleLine('[1]\n', bare)).toBe('[1]\n');
  });
});

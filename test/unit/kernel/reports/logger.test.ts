import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { type Logger, loggerInto } from '#kernel/reports/logger.ts';
import { peopleLine } from '#kernel/reports/people-lines.ts';

function recordingLogger(): { logger: Logger; lines: string[]; last: () => Record<string, unknown> } {
  const lines: string[] = [];
  const logger = loggerInto({ write: (line) => lines.push(line) }, 'info');
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> };
}

/** An error like those of `pg`. The error of a lost connection contains the complete client. */
function lostConnection(): Error {
  const client = Object.assign(new EventEmitter(), {
    connectionParameters: { user: 'satscribe', password: 'hidden-word' },
    secretKey: 4711,
  });
  return Object.assign(new Error('Connection terminated unexpectedly'), { client, code: '57P01' });
}

describe('an error in the log', () => {
  test('is its message, code and stack, and none of its other properties', () => {
    const { logger, lines, last } = recordingLogger();
    logger.warn({ err: lostConnection() }, 'an idle connection was lost');
    expect(Object.keys(last()['err'] as object)).toEqual(['type', 'message', 'code', 'stack']);
    expect(last()).toMatchObject({
      msg: 'an idle connection was lost',
      err: { message: 'Connection terminated unexpectedly', code: '57P01' },
    });
    expect(lines[0]).not.toContain('hidden-word');
    expect(lines[0]).not.toContain('4711');
  });

  test('shows its causes in the same way, and ends a circle of causes', () => {
    const { logger, lines, last } = recordingLogger();
    logger.error(
      { err: new AppError('postgres_lost', 'It was lost.', { height: 7 }, lostConnection()) },
      'x',
    );
    expect(last()).toMatchObject({
      err: { code: 'postgres_lost', details: { height: 7 }, cause: { code: '57P01' } },
    });
    expect(lines[0]).not.toContain('hidden-word');
    const circle = new Error('round');
    circle.cause = circle;
    logger.error({ err: circle }, 'x');
    expect(lines).toHaveLength(2);
  });

  test('is also shown so by a child', () => {
    const { logger, lines } = recordingLogger();
    logger.child({ part: 'http' }).warn({ err: lostConnection() }, 'x');
    expect(lines[0]).not.toContain('hidden-word');
  });
});

describe('secrets', () => {
  test('are hidden in URLs, wherever in a line', () => {
    const { logger, lines } = recordingLogger();
    const url = 'postgres://user:hidden-word@db:5432/x';
    logger.info({ url, err: new Error(`no answer from ${url}`) }, `trying ${url}`);
    expect(lines[0]).not.toContain('hidden-word');
    expect(lines[0]).toContain('postgres://***@db:5432/x');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'trying postgres://***@db:5432/x' });
    for (const secret of ['hidden-word', 'hidden-word:', 'user:with@hidden-word']) {
      logger.info(`trying https://${secret}@node.example/path`);
      expect(lines.at(-1)).toContain('trying https://***@node.example/path');
    }
  });

  test('are hidden by their keys', () => {
    const { logger, lines } = recordingLogger();
    logger.info(
      { password: 'hidden-word', headers: { cookie: 'hidden-word', 'x-api-key': 'hidden-word' } },
      'x',
    );
    logger.info({ request: { headers: { authorization: 'hidden-word' } } }, 'x');
    expect(lines.join('')).not.toContain('hidden-word');
  });

  test('are hidden in texts about an order: its id is as good as a key to it', () => {
    const { logger, lines } = recordingLogger();
    const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
    logger.warn({ subject: `order ${id}`, watcher: `refund ${id}` }, 'a message was given up');
    logger.error({ err: new Error(`order ${id} runs in a circle`) }, 'x');
    logger.warn({ subject: `token ${id}`, order: id }, 'x');
    logger.error({ url: `/tokenpay/order/${id}?a=1` }, 'x');
    logger.error({ url: `/tokenpay/checkout/${id}`, err: new Error(`/refund/${id}`) }, 'x');
    expect(lines.join('')).not.toContain(id.slice(8));
    // the first digits are enough to find the order
    expect(lines[0]).toContain('order 6f1c2b1e***');
    expect(lines[1]).toContain('order 6f1c2b1e*** runs in a circle');
    expect(lines[3]).toContain('/tokenpay/order/6f1c2b1e***?a=1');
  });

  test('are hidden in the URLs of feeds of watches, which have tokens', () => {
    const { logger, lines, last } = recordingLogger();
    const id = '6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
    for (const family of ['searches', 'watches']) {
      logger.error({ method: 'GET', url: `/${family}/${id}.atom?a=1&token=hidden-word` }, 'request failed');
      expect(last()).toMatchObject({ url: `/${family}/${id}.atom?***` });
    }
    logger.error({ url: '/latest.atom?page=2' }, `/searches/${id}.atom?token=hidden-word failed`);
    expect(last()).toMatchObject({
      url: '/latest.atom?page=2',
      msg: `/searches/${id}.atom?*** failed`,
    });
    expect(lines.join('')).not.toContain('hidden-word');
  });

  test('leave other texts as they are', () => {
    const { logger, last } = recordingLogger();
    logger.info({ url: 'http://127.0.0.1:8332/rest/x@y', at: 'a:b@c' }, 'x');
    expect(last()).toMatchObject({ url: 'http://127.0.0.1:8332/rest/x@y', at: 'a:b@c' });
  });
});

describe('texts of strangers in the log', () => {
  const name = 'a\u001b[31m\u202eb\u009bc\u007f\r\nd';

  test('are escapes in JSON, with the same value', () => {
    const { logger, lines, last } = recordingLogger();
    logger.warn({ name, err: new Error(name) }, name);
    expect(lines[0]).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
    expect(last()).toMatchObject({ name, msg: name, err: { message: name } });
  });

  test('control no terminal if lines are printed for people', () => {
    let text = '';
    const write = (line: string): void => {
      text += line;
    };
    const logger = loggerInto({ write }, 'info', (line) => peopleLine(line, (_style, words) => words));
    logger.warn({ name, err: new Error(name) }, name);
    expect(text).toContain('a\\u001b[31m\\u202eb\\u009bc\\u007f\\u000d\\u000ad');
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  });
});

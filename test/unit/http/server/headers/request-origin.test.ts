import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { isSecure, originOf } from '#http/server/headers/request-origin.ts';

const requestTo = (host: string, protocol = 'http') => ({ host, protocol }) as unknown as FastifyRequest;

describe('the origin of URLs in an answer', () => {
  test.each([
    ['ord.example', 'http', 'http://ord.example'],
    ['ord.example:8443', 'https', 'https://ord.example:8443'],
    ['127.0.0.1:80', 'http', 'http://127.0.0.1:80'],
    ['[2001:db8::1]:80', 'http', 'http://[2001:db8::1]:80'],
    ['my_service', 'javascript', 'http://my_service'],
  ])('%s by %s is %s', (host, protocol, origin) => {
    expect(originOf(requestTo(host, protocol), null)).toBe(origin);
  });

  test.each(['', 'a b', 'a/b?c#d', 'user@evil.example', 'a"b<c>', '\u0080ÿ', 'a:port', '[::1', 'a\nb'])(
    'is not made from the host %j',
    (host) => {
      expect(() => originOf(requestTo(host), null)).toThrow('not the name or address of a host');
      expect(originOf(requestTo(host), 'https://ord.example')).toBe('https://ord.example');
    },
  );
});

test('a cookie is not sent over http if PUBLIC_URL or the request is https', () => {
  expect(isSecure(requestTo('a', 'https'), null)).toBe(true);
  expect(isSecure(requestTo('a'), 'https://ord.example')).toBe(true);
  expect(isSecure(requestTo('a'), null)).toBe(false);
});

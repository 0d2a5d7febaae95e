import { describe, expect, test } from 'vitest';
import { prefersHtml, prefersJson } from '#http/server/headers/accept.ts';

describe('prefersJson', () => {
  test.each([
    'application/json',
    'application/json, text/plain, */*',
    'APPLICATION/JSON',
    'text/html;q=0.8, application/json',
    'application/json, text/html',
    'application/json;q=0.5, */*',
  ])('of %j', (accept) => {
    expect(prefersJson(accept)).toBe(true);
    expect(prefersHtml(accept)).toBe(false);
  });

  test.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html, application/json',
    'text/html, application/json;q=0.9',
    'application/json;q=0',
    'application/json;q=x',
    'application/jsonp',
  ])('not of %j', (accept) => {
    expect(prefersJson(accept)).toBe(false);
  });
});

describe('prefersHtml', () => {
  test('only if HTML is named', () => {
    expect(prefersHtml('text/html,application/xhtml+xml,*/*;q=0.8')).toBe(true);
    expect(prefersHtml('*/*')).toBe(false);
    expect(prefersHtml(undefined)).toBe(false);
    expect(prefersHtml('text/html;q=0')).toBe(false);
  });
});

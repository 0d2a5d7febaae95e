import { describe, expect, test } from 'vitest';
import { type GivenKey, givenKey } from '#accounts/given-key.ts';

const one: GivenKey = { kind: 'one', key: 'k', isCookie: false };
const none: GivenKey = { kind: 'none' };
const two: GivenKey = { kind: 'two' };

describe('the key of a request', () => {
  test.each<[string | undefined, string | undefined, GivenKey]>([
    [undefined, undefined, none],
    ['', '', none],
    [' ', 'Bearer  ', none],
    ['k', undefined, one],
    [' k ', 'Bearer', one],
    [undefined, 'Bearer k', one],
    ['', 'bearer   k ', one],
    ['k', 'BEARER k', one],
    ['k', 'Basic azpr', one],
    [undefined, 'Basic azpr', none],
    [undefined, 'Bearerk', none],
    ['k', 'Bearer other', two],
  ])('of x-api-key %j and Authorization %j', (apiKey, authorization, expected) => {
    expect(givenKey(apiKey, authorization, undefined)).toEqual(expected);
  });

  const kept: GivenKey = { kind: 'one', key: 'k', isCookie: true };
  test.each<[string, GivenKey]>([
    ['satscribe_key=k', kept],
    ['a=b; satscribe_key=k; c', kept],
    ['satscribe_key=; satscribe_key=k', kept],
    ['satscribe_key=k; satscribe_key=other', kept],
    ['satscribe_key', none],
    ['satscribe_keys=k', none],
    ['', none],
  ])('of Cookie %j, and a header comes before it', (cookie, expected) => {
    expect(givenKey('', 'Basic azpr', cookie)).toEqual(expected);
    expect(givenKey('k', undefined, cookie)).toEqual(one);
  });
});

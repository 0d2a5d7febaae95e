import { describe, expect, test } from 'vitest';
import { type GivenKey, givenKey } from '#accounts/given-key.ts';

const one: GivenKey = { kind: 'one', key: 'k' };
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
    expect(givenKey(apiKey, authorization)).toEqual(expected);
  });
});

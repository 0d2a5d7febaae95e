import { describe, expect, test } from 'vitest';
import {
  matchOf,
  searchFilterOf,
  searchPagingOf,
  withoutTextOptions,
} from '#http/search/search-parameters.ts';

const id = `${'ab'.repeat(32)}i1`;

describe('parameters of searches', () => {
  test('have no filter by default', () => {
    expect(searchFilterOf({})).toBeUndefined();
    expect(matchOf({})).toEqual({ match: 'substring', phrase: false });
    expect(searchPagingOf({})).toEqual({ page: 1, itemsPerPage: 100, pending: false, highlight: false });
  });

  test('are filters', () => {
    const txid = new Uint8Array(32).fill(0xab);
    expect(
      searchFilterOf({
        contentType: 'image/*',
        from: '1',
        to: '2',
        cursed: 'false',
        metaprotocol: 'brc-20',
        parent: id,
        title: 'T',
        trait: 'Hat:Red,Time:12\\:30\\, or so:late',
        gallery: id,
        key: 'name',
        value: 'Foo',
      }),
    ).toEqual({
      contentType: 'image/*',
      from: 1,
      to: 2,
      cursed: false,
      metaprotocol: 'brc-20',
      parent: { txid, index: 1 },
      title: 'T',
      traits: [
        { name: 'Hat', value: 'Red' },
        { name: 'Time', value: '12:30, or so:late' },
      ],
      gallery: { txid, index: 1 },
      metadata: { key: 'name', value: 'Foo' },
    });
  });

  test.each([
    [{ contentType: '*/png' }, 'contentType'],
    [{ contentType: '' }, 'contentType is empty'],
    [{ from: '-1' }, 'from must be >= 0'],
    [{ to: '1.5' }, 'to is not a whole number'],
    [{ cursed: 'yes' }, 'cursed must be one of true, false'],
    [{ metaprotocol: 'x'.repeat(4097) }, 'metaprotocol is longer'],
    [{ parent: '1' }, 'parent is not an inscription id'],
    [{ title: '' }, 'title is empty'],
    [{ title: 'x'.repeat(1001) }, 'title is longer than 1000 characters'],
    [{ trait: 'Hat' }, 'trait must be Name:Value'],
    [{ trait: ':Red' }, 'trait must be Name:Value'],
    [{ trait: 'Hat:Red,' }, 'trait must be Name:Value'],
    [{ trait: Array(33).fill('a:b').join(',') }, 'trait has more than 32 traits'],
    [{ gallery: 'x' }, 'gallery is not an inscription id'],
    [{ key: '' }, 'key is empty'],
    [{ value: 'x'.repeat(4097) }, 'value is longer'],
  ])('of filters are refused by name: %j', (query, words) => {
    expect(() => searchFilterOf(query)).toThrow(words);
  });

  test('of pages are checked, and exclude each other', () => {
    expect(searchPagingOf({ sort: 'number', order: 'desc', cursor: '', itemsPerPage: 5 })).toEqual({
      page: 1,
      itemsPerPage: 5,
      pending: false,
      highlight: false,
      sort: 'number',
      order: 'desc',
      cursor: '',
    });
    expect(() => searchPagingOf({ sort: 'age' })).toThrow('sort must be one of height, number, length');
    expect(() => searchPagingOf({ order: 'up' })).toThrow('order must be one of asc, desc');
    expect(() => searchPagingOf({ page: 1, cursor: '' })).toThrow('page and cursor');
    expect(() => searchPagingOf({ pending: '1', cursor: '' })).toThrow('pending excludes cursor');
    expect(() => searchPagingOf({ highlight: '1', itemsPerPage: 101 })).toThrow(
      'itemsPerPage must be <= 100',
    );
  });

  test('of words exclude a phrase, and need a text', () => {
    expect(matchOf({ fuzzy: '1', words: '0' })).toEqual({ match: 'fuzzy', phrase: false });
    expect(matchOf({ words: 'true', phrase: '0' })).toEqual({ match: 'words', phrase: false });
    expect(() => matchOf({ words: '1', phrase: '1' })).toThrow('phrase excludes words');
    for (const name of ['words', 'fuzzy', 'highlight']) {
      expect(() => withoutTextOptions({ [name]: '1' }, 'a hash')).toThrow(
        `${name} can only be used with text`,
      );
    }
  });
});

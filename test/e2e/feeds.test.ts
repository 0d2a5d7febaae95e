import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf } from '#test/support/chain/rows/chain-rows.ts';
import { browserForTests, launchChromium } from '#test/support/chromium.ts';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { atomFeed } from '#web/feeds/atom.ts';

const executable = browserForTests();
const hostile = '<script>&amp;]]> "quoted" \u0000\u000b\ufffe\ud800 needle';

let http: HttpApp;
let browser: Browser;
let page: Page;

interface ReadFeed {
  /** The parser's complaint; `null` if the text is well-formed. */
  readonly fault: string | null;
  readonly id: string | null;
  readonly title: string | null;
  readonly updated: string | null;
  readonly links: readonly (readonly [rel: string | null, href: string | null])[];
  readonly entries: readonly {
    readonly id: string | null;
    readonly title: string | null;
    readonly updated: string | null;
    readonly href: string | null;
    readonly summary: string | null;
  }[];
}

/** Code that runs in the browser. It is a text, because tests do not have the browser's types. */
const reader = `(text) => {
  const atom = 'http://www.w3.org/2005/Atom';
  const parsed = new DOMParser().parseFromString(text, 'application/xml');
  const root = parsed.documentElement;
  const own = (element, name) =>
    [...element.children].filter((child) => child.namespaceURI === atom && child.localName === name);
  const word = (element, name) => own(element, name)[0]?.textContent ?? null;
  return {
    fault: parsed.querySelector('parsererror')?.textContent ?? null,
    id: word(root, 'id'),
    title: word(root, 'title'),
    updated: word(root, 'updated'),
    links: own(root, 'link').map((link) => [link.getAttribute('rel'), link.getAttribute('href')]),
    entries: own(root, 'entry').map((entry) => ({
      id: word(entry, 'id'),
      title: word(entry, 'title'),
      updated: word(entry, 'updated'),
      href: own(entry, 'link')[0]?.getAttribute('href') ?? null,
      summary: word(entry, 'summary'),
    })),
  };
}`;

/** Reads a feed with the XML parser of a browser. */
const read = (xml: string): Promise<ReadFeed> =>
  page.evaluate<ReadFeed>(`(${reader})(${JSON.stringify(xml)})`);

describe.skipIf(executable === null)('feeds, read by the parser of a browser', () => {
  beforeAll(async () => {
    http = await createHttpApp([
      { height: 0, rows: [{ name: 'first', body: 'the first needle' }] },
      {
        height: 1,
        rows: [
          { name: 'hostile', body: hostile },
          { name: 'other', body: 'something else' },
        ],
      },
    ]);
    browser = await launchChromium(executable ?? '');
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser.close();
    await http.close();
  });

  const feed = async (url: string): Promise<ReadFeed> => {
    const answer = await http.app.inject({ url, headers: { host: 'satscribe.test' } });
    expect(answer.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    return read(answer.body);
  };

  test('blocks, newest first, each with its page', async () => {
    const { fault, links, title, entries, updated } = await feed('/blocks.atom');
    expect({ fault, title }).toEqual({ fault: null, title: 'Blocks of regtest' });
    expect(links).toEqual([
      ['self', 'http://satscribe.test/blocks.atom'],
      ['alternate', 'http://satscribe.test/blocks'],
    ]);
    expect(entries.map((entry) => entry.title)).toEqual([
      'Block 1: 2 inscriptions',
      'Block 0: 1 inscription',
    ]);
    expect(entries[0]?.href).toBe('http://satscribe.test/block/1');
    expect(updated).toBe(entries[0]?.updated);
    expect(new Date(updated ?? '').toISOString()).toBe(updated?.replace('Z', '.000Z'));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(2);
  });

  test('a search, newest first, with hostile texts as texts', async () => {
    const { fault, links, entries } = await feed('/search.atom?text=needle&in=content');
    expect(fault).toBeNull();
    expect(links[1]).toEqual(['alternate', 'http://satscribe.test/?in=content&text=needle']);
    expect(entries.map(({ href }) => href)).toEqual(
      ['hostile', 'first'].map((name) => `http://satscribe.test/inscription/${idOf(name)}`),
    );
    expect(entries[0]?.summary).toContain('<script>&amp;]]> "quoted"');
    expect(entries[0]?.summary).toContain('needle');
  });

  test('any text is read back unchanged, except characters that XML has no form for', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        const entry = { id: 'urn:a', title: text, href: `/?${text}`, updated: 0, summary: text };
        const feedOfText = {
          id: 'urn:b',
          title: text,
          self: text,
          page: text,
          author: text,
          entries: [entry],
        };
        const { fault, title, entries } = await read(atomFeed(feedOfText));
        const shown = text
          .toWellFormed()
          // oxlint-disable-next-line no-control-regex -- characters that XML has no form for
          .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu, '\ufffd');
        // XML reads every end of line as one character
        const lines = shown.replace(/\r\n?/gu, '\n');
        expect({ fault, title, summary: entries[0]?.summary }).toEqual({
          fault: null,
          title: lines,
          summary: lines,
        });
      }),
      { numRuns: propertyRuns(30) },
    );
  });
});

import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { noSats } from '#kernel/primitives/sats.ts';
import { type InscriptionView, inscriptionPage } from '#web/pages/inscription.page.ts';

const id = `${'a'.repeat(64)}i0`;
const strip = (heading: string, count = 0, total: number | null = count) => ({
  heading,
  cards: Array.from({ length: count }, (_, number) => ({
    id: `${'b'.repeat(64)}i${number}`,
    number,
    contentType: 'image/png',
  })),
  total,
  href: `/${heading.toLowerCase()}/${id}`,
});
const view: InscriptionView = {
  site: { network: 'regtest', tipHeight: asHeight(1), banner: null },
  id,
  txid: 'a'.repeat(64),
  number: 0,
  title: null,
  traits: [],
  runs: null,
  height: asHeight(1),
  timestamp: 0,
  facts: { anchored: true, hasSpent: true, sequenced: true, numbered: true },
  txIndex: 1,
  input: 0,
  contentType: null,
  effectiveContentType: null,
  contentEncoding: null,
  contentLength: null,
  contentHash: null,
  delegate: null,
  metaprotocol: null,
  metadataJson: null,
  burnMetadataJson: null,
  propertiesJson: null,
  references: [],
  sat: null,
  charms: [],
  curse: null,
  fee: noSats,
  satpoint: null,
  place: null,
  address: null,
  value: null,
  parents: strip('Parents'),
  children: strip('Children'),
  gallery: strip('Gallery'),
  hasAllChildren: true,
  pendingSales: [],
  collections: [],
  neighbours: null,
  events: [],
  previous: null,
  next: null,
};

function shownJson(metadataJson: string): string {
  const { text } = inscriptionPage({ ...view, metadataJson });
  return /<pre class="json">([^<]*)<\/pre>/u.exec(text)![1]!.replaceAll('&quot;', '"');
}

test('the metadata of a burn has a section of its own', () => {
  const { text } = inscriptionPage({ ...view, burnMetadataJson: '"<gone>"' });
  expect(text).toContain('<h2>Burn metadata</h2><pre class="json">&quot;&lt;gone&gt;&quot;</pre>');
  expect(inscriptionPage(view).text).not.toContain('Burn metadata');
});

describe('the sat of an inscription', () => {
  test('has a link to its page, and its satributes to theirs', () => {
    const sat = { number: 45_000_000_000, satributes: [{ id: 'block9', title: 'Block 9' }] };
    const { text } = inscriptionPage({ ...view, sat });
    expect(text).toContain('<dt>Sat</dt><dd><a href="/sat/45000000000">45,000,000,000</a>');
    expect(text).toContain('href="/satributes/block9?sat=45000000000">Block 9</a>');
  });

  test('is absent if it is not indexed', () => {
    expect(inscriptionPage(view).text).not.toContain('<dt>Sat</dt>');
  });
});

describe('the metadata of an inscription', () => {
  test('have line breaks between values and none within strings', () => {
    expect(shownJson('{"a":[1,{}],"b":"x, [y]: \\"z\\""}')).toBe(
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": "x, [y]: \\"z\\""\n}',
    );
  });

  test('keep large integers exact', () => {
    expect(shownJson('[9007199254740993]')).toBe('[\n  9007199254740993\n]');
  });

  // a quote inside is not tried as the start of a string, which took half a second
  test.each(['"', '\\', ',', '[', 'x'])('may end within a string of %j without a line break', (character) => {
    const whole = JSON.stringify(character.repeat(30_000));
    expect(shownJson(whole)).toBe(`${whole.slice(0, 20_000)}…`);
  });
});

describe('the pending sales of an inscription', () => {
  const txid = 'b'.repeat(64);
  const sale = { price: 70_000, makerAddress: 'bcrt1pmaker', takerAddress: null, txid };

  test('are named with price, transaction and people, and only if there are some', () => {
    const { text } = inscriptionPage({ ...view, pendingSales: [sale] });
    expect(text).toContain('Being sold for 70,000 sats');
    expect(text).toContain(txid);
    expect(text).toContain('href="/address/bcrt1pmaker"');
    expect(inscriptionPage(view).text).not.toContain('Being sold');
  });
});

describe('the collections of an inscription', () => {
  const of = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ slug: `frogs-${nth}`, name: `<Frogs> ${nth}` }));

  test('are linked, the first eight, and only if there are some', () => {
    const { text } = inscriptionPage({ ...view, collections: of(2) });
    expect(text).toContain('<a class="wrap" href="/collection/frogs-1"><bdi>&lt;Frogs&gt; 1</bdi></a>');
    expect(text).not.toContain('all of them');
    const many = inscriptionPage({ ...view, collections: of(9) }).text;
    expect(many).not.toContain('frogs-8');
    expect(many).toContain(`href="/marketplace/data/collections/of/${view.id}">all of them, as JSON`);
    for (const collections of [[], null])
      expect(inscriptionPage({ ...view, collections }).text).not.toContain('Collections');
  });
});

describe('the name of an inscription', () => {
  test('is its title if it has one; in the head without characters of direction', () => {
    const { text } = inscriptionPage({ ...view, title: '\u202eA <b> frog' });
    expect(text).toContain('<h1 class="wrap"><bdi>\u202eA &lt;b&gt; frog</bdi></h1>');
    expect(text).toContain('<title>A &lt;b&gt; frog · Inscription #0 · Satscribe</title>');
    expect(inscriptionPage(view).text).toContain('<h1>Inscription #0</h1>');
  });
});

describe('the art of an inscription', () => {
  const shown = (effectiveContentType: string | null, runs: boolean | null): string =>
    /<div class="stage">(.*?)<p class="tools">/su.exec(
      inscriptionPage({ ...view, effectiveContentType, runs }).text,
    )![1]!;

  test('is shown at once if it runs no script', () => {
    for (const [type, runs] of [
      ['image/png', null],
      ['text/html', false],
      ['image/svg+xml', null],
      [null, null],
    ] as const) {
      expect(shown(type, runs)).toContain('<iframe sandbox="allow-scripts"');
      expect(shown(type, runs)).not.toContain('<details');
    }
  });

  test('is run when it is opened if it may run scripts', () => {
    for (const [type, runs] of [
      ['text/html', true],
      ['text/html', null],
      ['image/svg+xml', true],
    ] as const)
      expect(shown(type, runs)).toMatch(
        /<details class="run"><summary>.*Run it.*<iframe [^>]*loading="lazy"/su,
      );
  });
});

describe('the relatives of an inscription', () => {
  test('are tiles with a link to all', () => {
    const { text } = inscriptionPage({ ...view, children: strip('Children', 8, 1_200) });
    expect(text).toContain('<h2>Children <span class="faint">1,200</span></h2>');
    expect(text.match(/class="thumbnail"/gu)).toHaveLength(8);
    expect(text).toContain(`<a href="/children/${id}">All ›</a>`);
    expect(text).not.toContain('<h2>Parents');
    expect(inscriptionPage({ ...view, gallery: strip('Gallery', 2) }).text).not.toContain('All of them');
  });

  test('are named next to it in its collection', () => {
    const collection = { slug: 'frogs', name: 'Frogs' };
    const neighbours = { collection, previous: null, next: 'x' };
    const { text } = inscriptionPage({ ...view, neighbours });
    expect(text).toContain('<a class="button" href="/inscription/x" rel="next">Next item ›</a>');
    expect(text).not.toContain('Previous item');
  });
});

describe('the history of an inscription', () => {
  const event = { kind: 'transfer', height: asHeight(7), time: 0, txid: 'c'.repeat(64), sale: null } as const;
  const from = { text: 'bcrt1pfrom', isAddress: true };

  test('links transactions, blocks and people', () => {
    const { text } = inscriptionPage({ ...view, events: [{ ...event, from, to: null }] });
    expect(text).toContain('<b>Transferred</b>');
    expect(text).toContain('href="/address/bcrt1pfrom"');
    expect(text).toContain(`href="/tx/${event.txid}"`);
    expect(text).toContain('href="/block/7"');
  });

  test('names the price of a sale, and a wash sale', () => {
    const to = { text: '51', isAddress: false };
    const sale = { price: 1_500, isWash: true };
    const { text } = inscriptionPage({ ...view, events: [{ ...event, kind: 'sale', from, to, sale }] });
    expect(text).toContain(`<a href="/sale/${event.txid}">Sold for 1,500 sats</a>`);
    expect(text).toContain('wash sale');
    expect(text).toContain('to <span class="mono wrap">51</span>');
  });
});

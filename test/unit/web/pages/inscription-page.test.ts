import { describe, expect, test } from 'vitest';
import { asHeight } from '#kernel/primitives/height.ts';
import { noSats } from '#kernel/primitives/sats.ts';
import { type InscriptionView, inscriptionPage } from '#web/pages/inscription.page.ts';

const id = `${'a'.repeat(64)}i0`;
const view: InscriptionView = {
  site: { network: 'regtest', tipHeight: asHeight(1), banner: null },
  id,
  txid: 'a'.repeat(64),
  number: 0,
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
  parents: [],
  children: [],
  childCount: 0,
  hasAllChildren: true,
  pendingSales: [],
  collections: [],
  sales: [],
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

  test('is not named where it is not indexed', () => {
    expect(inscriptionPage(view).text).not.toContain('<dt>Sat</dt>');
  });
});

describe('the metadata of an inscription', () => {
  test('have line breaks between values and none within strings', () => {
    expect(shownJson('{"a":[1,{}],"b":"x, [y]: \\"z\\""}')).toBe(
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": "x, [y]: \\"z\\""\n}',
    );
  });

  test('keep large integers as they are', () => {
    expect(shownJson('[9007199254740993]')).toBe('[\n  9007199254740993\n]');
  });

  // its quotes are not tried one after the other as beginnings of strings, which took half a second
  test.each(['"', '\\', ',', '[', 'x'])('are cut within a string of %j without a line break', (character) => {
    const whole = JSON.stringify(character.repeat(30_000));
    expect(shownJson(whole)).toBe(`${whole.slice(0, 20_000)}…`);
  });
});

describe('the pending sales of an inscription', () => {
  const txid = 'b'.repeat(64);
  const sale = { price: 70_000, makerAddress: 'bcrt1pmaker', takerAddress: null, txid };

  test('are named with price, transaction and people, and only where there are some', () => {
    const { text } = inscriptionPage({ ...view, pendingSales: [sale] });
    expect(text).toContain('<dt>Being sold</dt>');
    expect(text).toContain('70,000 sats');
    expect(text).toContain(txid);
    expect(text).toContain('href="/address/bcrt1pmaker"');
    expect(inscriptionPage(view).text).not.toContain('Being sold');
  });
});

describe('the collections of an inscription', () => {
  const of = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ slug: `frogs-${nth}`, name: `<Frogs> ${nth}` }));

  test('are linked, the first eight, and only where there are some', () => {
    const { text } = inscriptionPage({ ...view, collections: of(2) });
    expect(text).toContain('<a class="wrap" href="/collection/frogs-1"><bdi>&lt;Frogs&gt; 1</bdi></a>');
    expect(text).not.toContain('and more');
    const many = inscriptionPage({ ...view, collections: of(9) }).text;
    expect(many).not.toContain('frogs-8');
    expect(many).toContain(`href="/marketplace/data/collections/of/${view.id}">and more`);
    for (const collections of [[], null])
      expect(inscriptionPage({ ...view, collections }).text).not.toContain('Collections');
  });
});

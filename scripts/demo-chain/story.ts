import { Encoder } from 'cbor-x';
import { seededRandom } from '#test/builders/random.ts';
import { type EnvelopeContent, idBytes } from '#test/builders/regtest/regtest-envelope.ts';
import {
  burnScript,
  type Coin,
  type RegtestTransaction,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { type Artwork, moth, orbit, orbitsCover, type Trait, tune } from './art.ts';
import { type DemoWorld, postage } from './demo-world.ts';
import {
  collage,
  deploy,
  library,
  mint,
  stillPage,
  texts,
  transfer,
  treePage,
  wavesPage,
} from './documents.ts';
import { RuneStory } from './rune-story.ts';

/** An item of a collection, and the coin that holds the item now. */
export interface Item {
  readonly id: string;
  readonly name: string;
  readonly traits: readonly Trait[];
  coin: Coin;
}

export interface Story {
  readonly orbits: Item[];
  readonly moths: Item[];
}

const [artist, writer, keeper] = [11, 12, 13];
/** Owners who buy and sell. */
const collectors = [21, 22, 23, 24, 25, 26, 27, 28];
/** Last day of the story. Block 149 is the last one with the first subsidy, and the demo mines some more blocks. */
const lastDay = 44;
const firstSaleDay = 13;
const [mothDays, mothsOfDay] = [3, 4];
const [orbitDays, orbitsOfDay] = [4, 4];
const demoCoins = 80;
const demoCoinValue = 40_000_000;
/** P2WSH script of OP_TRUE. The demo pays with such coins, which need no key. */
const openScript = Buffer.from('00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260', 'hex');

const cbor = new Encoder({ useRecords: false, variableMapSize: true, tagUint8Array: false });
const metadataOf = (name: string, { traits }: Pick<Artwork, 'traits'>): Uint8Array =>
  new Uint8Array(cbor.encode({ name, attributes: traits }));
const svg = 'image/svg+xml';
const html = 'text/html;charset=utf-8';
const plain = 'text/plain;charset=utf-8';

/** Builds the complete chain, from the first inscription on. */
export async function tellStory(world: DemoWorld, firstPicture: Uint8Array): Promise<Story> {
  const story: Story = { orbits: [], moths: [] };
  const runes = new RuneStory(world);
  const first = await world.inscribe({ contentType: 'image/png', body: firstPicture }, { to: artist });
  await world.nextDay();

  for (const [contentType, body] of texts.slice(0, 8))
    await world.inscribe({ contentType, body }, { to: writer });
  const cover = await world.inscribe(named('Orbits', { contentType: svg, body: orbitsCover }), {
    to: artist,
  });
  let parent = cover.coin(0);
  await runes.commit();
  await world.nextDay();

  const tool = await world.inscribe({ contentType: 'text/javascript', body: library }, { to: keeper });
  await world.inscribe(named('Field notes', { contentType: html, body: stillPage }), { to: writer });
  // before block 110, ord calls every inscription of an input cursed except the first
  await world.inscribe(
    [
      { contentType: plain, body: 'blessed' },
      { contentType: plain, body: 'cursed' },
    ],
    { to: keeper },
  );
  await world.nextDay();

  await world.inscribe(named('Waves', { contentType: html, body: wavesPage }), { to: artist });
  for (const seed of [7, 19])
    await world.inscribe(named(`Tree ${seed}`, { contentType: html, body: treePage(tool.id(), seed) }), {
      to: keeper,
    });
  await world.nextDay();

  for (const [contentType, body] of texts.slice(8))
    await world.inscribe({ contentType, body }, { to: writer });
  await world.inscribe(named('Eight notes', { contentType: 'audio/wav', body: tune() }), { to: keeper });
  await world.nextDay();

  for (let day = 0; day < mothDays; day++) {
    for (let at = 1; at <= mothsOfDay; at++) await makeMoth(world, story, day * mothsOfDay + at);
    if (day === 0) await tokens(world);
    if (day === mothDays - 1) await runes.etch();
    await world.nextDay();
  }
  // from block 110 on, no inscription is cursed
  for (let day = 0; day < orbitDays; day++) {
    parent = await makeOrbits(world, story, { parent, parentId: cover.id(), from: 1 + day * orbitsOfDay });
    await world.nextDay();
  }

  await specials(world, story, first);
  await runes.spread();
  await world.nextDay();
  for (let day = firstSaleDay; day < lastDay; day++) {
    await trade(world, story, day);
    await runes.live(day);
    if (day % 5 === 0) await note(world, day);
    await world.nextDay();
  }
  for (let split = 0; split < demoCoins; split += 40) {
    const made = await openCoins(world);
    world.add(made);
  }
  await world.nextDay();
  return story;
}

const named = (name: string, content: EnvelopeContent): EnvelopeContent => ({
  ...content,
  metadata: new Uint8Array(cbor.encode({ name })),
});

interface Batch {
  readonly parent: Coin;
  readonly parentId: string;
  readonly from: number;
}

/** Makes four orbits in one reveal, as children of the cover. Returns the cover's coin. */
async function makeOrbits(
  world: DemoWorld,
  { orbits }: Story,
  { parent, parentId, from }: Batch,
): Promise<Coin> {
  const drawings = Array.from({ length: orbitsOfDay }, (_, at) => ({
    name: `Orbit ${from + at}`,
    ...orbit(from + at),
  }));
  const contents = drawings.map(({ name, body, traits }) => ({
    contentType: svg,
    body,
    metadata: metadataOf(name, { traits }),
    parents: [parentId],
  }));
  const reveal = await world.inscribe(contents, { to: artist, parents: [parent] });
  for (const [at, { name, traits }] of drawings.entries())
    orbits.push({ id: reveal.id(at), name, traits, coin: reveal.coin(1 + at) });
  return reveal.coin(0);
}

async function makeMoth(world: DemoWorld, { moths }: Story, number: number): Promise<void> {
  const name = `Moth ${number}`;
  const { body, traits } = moth(number);
  const content = { contentType: 'image/png', body, metadata: metadataOf(name, { traits }) };
  const reveal = await world.inscribe(content, { to: keeper });
  moths.push({ id: reveal.id(), name, traits, coin: reveal.coin(0) });
}

/** Inscribes BRC-20 operations, which are most inscriptions of mainnet. */
async function tokens(world: DemoWorld): Promise<void> {
  for (const body of [deploy('demo', 21_000_000, 1000), deploy('orbs', 1_000_000, 500)])
    await world.inscribe({ contentType: plain, body }, { to: writer });
  for (let count = 0; count < 14; count++)
    await world.inscribe(
      { contentType: plain, body: mint('demo', 1000) },
      { to: collectors[count % 8] ?? writer },
    );
  for (const amount of [100, 250])
    await world.inscribe({ contentType: plain, body: transfer('demo', amount) }, { to: writer });
}

/**
 * Makes special inscriptions: one that consists of others, one that delegates, a gallery, a burned one, and one on the
 * first sat of a block.
 */
async function specials(
  world: DemoWorld,
  { moths, orbits }: Story,
  first: RegtestTransaction,
): Promise<void> {
  const four = moths.slice(0, 4).map(({ id }) => id);
  await world.inscribe(named('Four moths', { contentType: svg, body: collage(four) }), { to: keeper });
  await world.inscribe({ delegate: first.id() }, { to: writer });
  const gallery = new Map<number, unknown>([
    [0, orbits.slice(0, 6).map(({ id }) => new Map([[0, idBytes(id)]]))],
    [
      1,
      new Map<number, unknown>([
        [0, 'Six orbits'],
        [1, { Curator: 'the demo' }],
      ]),
    ],
  ]);
  const properties = new Uint8Array(cbor.encode(gallery));
  await world.inscribe(
    { contentType: plain, body: 'A gallery of orbits.', fields: [[17, properties]] },
    { to: artist },
  );
  const gone = await world.inscribe({ contentType: plain, body: 'This one is burned.' }, { to: writer });
  await world.pay([{ value: postage, outputScript: burnScript }], [gone.coin(0)]);
  for (const coin of world.rareCoins()) await world.pay([{ value: 1_000, to: 31 }], [coin]);
}

/** Makes some sales of a day, and sometimes a gift. */
async function trade(world: DemoWorld, { orbits, moths }: Story, day: number): Promise<void> {
  const random = seededRandom(`trades of day ${day}`);
  const isQuiet = day % 7 === 3;
  for (let sale = 0; sale < (isQuiet ? 0 : 1 + random.below(3)); sale++) {
    const isOrbit = random.unit() < 0.6;
    const items = isOrbit ? orbits : moths;
    const item = items[random.below(items.length)];
    const others = collectors.filter((owner) => owner !== item?.coin.owner);
    const buyer = others[random.below(others.length)];
    if (item === undefined || buyer === undefined) throw new Error('there are items and buyers');
    const floor = isOrbit ? 60_000 + day * 2_500 : 18_000 + day * 600;
    const price = Math.round((floor * (1 + random.unit() ** 2 * 2.5)) / 500) * 500;
    item.coin = await world.buy(item.coin, buyer, price);
  }
  if (day % 6 === 1) {
    const item = moths[random.below(moths.length)];
    if (item !== undefined) item.coin = (await world.send(item.coin, 29)).coin(0);
  }
}

const note = (world: DemoWorld, day: number): Promise<RegtestTransaction> =>
  world.inscribe(
    { contentType: plain, body: `Day ${day} of the demo: ${world.height} blocks, and all is well.` },
    { to: writer },
  );

/** Makes the coins with which the demo pays for orders. */
async function openCoins(world: DemoWorld): Promise<RegtestTransaction> {
  const coinbase = await world.chain.coin();
  const count = demoCoins / 2;
  const outputs = Array.from({ length: count }, () => ({ value: demoCoinValue, outputScript: openScript }));
  const rest = coinbase.value - count * demoCoinValue - 10_000;
  return transaction([coinbase], [...outputs, { value: rest, to: 900 }]);
}

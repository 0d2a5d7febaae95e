import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type Collection, readCollection } from '#collections/collection/collection.store.ts';
import { type CollectionFile, readFiles } from '#collections/collection/files.store.ts';
import type { RunePrice } from '#collections/collection/rune-price.ts';
import type { Phase } from '#collections/selling/choose-phase.ts';
import { leftInPhase, nextChange, phaseStateAt, saleStateAt } from '#collections/selling/phase-state.ts';
import { readSale } from '#collections/selling/sale.queries.ts';
import { coinInDollars } from '#http/server/answers/coin-in-dollars.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { defaultPriceSettings } from '#orders/pricing/prices.ts';
import { mediaOf } from '#web/media.ts';
import type { MintPageView } from '#web/pages/mint.page.ts';
import type { MintForm } from '#web/parts/mint-form.ts';
import type { MintPhase } from '#web/parts/mint-phases.ts';
import type { MintSupply } from '#web/parts/mint-supply.ts';
import type { MintTile } from '#web/parts/mint-tiles.ts';

/** Maximum number of files that are shown. They fill one large tile and two rows of three tiles. */
const tilesMax = 7;
/** Maximum size of a text file whose first lines are shown, in bytes. */
const textBytesMax = 64 * 1024;

/** The current view of a collection for sale. `null` if no approved collection has this slug. */
export async function mintPageView(
  deps: AppDependencies,
  slug: string,
  asker: Asker,
): Promise<MintPageView | null> {
  const found = await withSnapshot(deps.pool, ({ client, tip }) => readSold(client, slug, tip), asker.signal);
  if (found === null) return null;
  const { orders = null, prices: { collectionServiceFee: serviceFee } = defaultPriceSettings } = deps;
  const { collection, phases, files, links, tip } = found;
  const now = new Date();
  const isEdition = files.length === 1 && collection.totalCount > 1;
  const shownPhases = phases.map((phase) => phaseOf(phase, collection, now));
  const lists = phases.some(({ isPublic }) => !isPublic);
  return {
    site: siteOf(deps, tip),
    slug,
    name: collection.name,
    creator: collection.shown.creator,
    description: collection.shown.description,
    links,
    tiles: await tilesOf(orders, slug, files),
    isEdition,
    supply: supplyOf(collection, phases, shownPhases, now),
    phases: shownPhases,
    serviceFee,
    dollarsPerCoin: await coinInDollars(deps),
    form: await formOf(deps, asker, { slug, hasNumbers: !isEdition, hasLists: lists }),
  };
}

async function readSold(client: pg.PoolClient, slug: string, tip: Parameters<typeof siteOf>[1]) {
  const collection = await readCollection(client, slug);
  if (collection?.state !== 'approved' && collection?.state !== 'closed') return null;
  const phases = (await readSale(client, slug))?.phases ?? [];
  const files = await readFiles(client, slug, { after: null, limit: tilesMax });
  return { collection, phases, files, links: await linksOf(client, slug), tip };
}

/** The links of the collection. The market checked them at the approval. */
async function linksOf(client: pg.PoolClient, slug: string): Promise<MintPageView['links']> {
  const listed = await findMarketCollection(client, slug);
  if (listed?.kind !== 'import') return [];
  const { website, twitter, discord } = listed;
  const links = [
    { words: 'Website', href: website },
    { words: 'Twitter', href: twitter },
    { words: 'Discord', href: discord },
  ];
  return links.flatMap(({ words, href }) => (href === null ? [] : [{ words, href }]));
}

function phaseOf(phase: Phase, { totalCount, taken, price, runePrice }: Collection, now: Date): MintPhase {
  const { phase: name, isPublic, items, startsAt, endsAt } = phase;
  const free = totalCount - taken;
  return {
    name,
    isPublic,
    price: Number(phase.price ?? price),
    runePrice: runePrice === null ? null : runeWords(runePrice),
    state: phaseStateAt(phase, free, now),
    startsAt,
    endsAt,
    items,
    left: leftInPhase(phase, free),
  };
}

const runeWords = ({ amount, divisibility, name }: RunePrice): string =>
  `${shownAmount(trustedU128(amount), divisibility)} ${name}`;

function supplyOf(
  { state, altPrices, runePrice, totalCount: total, taken, unpaid }: Collection,
  phases: readonly Phase[],
  shown: readonly MintPhase[],
  now: Date,
): MintSupply {
  // an earlier version allowed a price without an account that receives the runes
  const isInRunes = altPrices !== null && runePrice === null;
  const open = shown.filter((phase) => phase.state === 'open');
  return {
    sale: saleStateAt({ isClosed: state === 'closed', isInRunes, total, taken, unpaid }, phases, now),
    total,
    sold: taken - unpaid,
    reserved: unpaid,
    next: nextChange(phases, now),
    terms: open.map(({ name, price }) => `${name} ${price}`).join(', '),
  };
}

/**
 * Tiles of files. If a content cannot be read, its tile shows no text. This is not an error, because the page is mainly
 * about the sale.
 */
async function tilesOf(
  orders: CustomerOrders | null,
  slug: string,
  files: readonly CollectionFile[],
): Promise<MintTile[]> {
  return Promise.all(
    files.flatMap(({ place, name, stored }) =>
      stored === null ? [] : [tileOf(orders, slug, { place, name, ...stored })],
    ),
  );
}

async function tileOf(
  orders: CustomerOrders | null,
  slug: string,
  {
    place,
    name,
    sha256,
    bytes,
    mediaType,
  }: Pick<CollectionFile, 'place' | 'name'> & NonNullable<CollectionFile['stored']>,
): Promise<MintTile> {
  const isText = orders !== null && mediaOf(mediaType) === 'text' && bytes <= textBytesMax;
  const content = isText ? await orders.approvedContent(sha256).catch(() => null) : null;
  return {
    thumbnail: orders === null ? null : `/thumbnails/mint/${slug}/${place}.webp`,
    name,
    mediaType,
    text: content === null ? null : new TextDecoder().decode(content),
  };
}

async function formOf(
  { orders = null, network, demo = null }: AppDependencies,
  { signal }: Asker,
  given: Pick<MintForm, 'slug' | 'hasNumbers' | 'hasLists'>,
): Promise<MintForm> {
  return {
    ...given,
    network: network.name,
    closed: orders === null ? 'this service takes no orders' : await orders.whyClosed(signal),
    challenge: challengeOf(orders),
    demoAddress: demo?.receiver ?? null,
  };
}

function challengeOf(orders: CustomerOrders | null): MintForm['challenge'] {
  const persons = orders?.persons ?? null;
  if (persons === null) return 'none';
  return persons.siteKey === null ? 'missing' : { siteKey: persons.siteKey };
}

import type { ClientBase } from 'pg';
import { type BlockWithKeys, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { hasBlock } from '#chain/derived/derived-tables.queries.ts';
import type { InscriptionKind } from '#chain/inscriptions/inscription-filter.ts';
import { listInscriptions } from '#chain/inscriptions/inscription-list.queries.ts';
import { runeKeysOfBlock, runesOfKeys } from '#chain/runes/rune.queries.ts';
import { knowsRunesAt } from '#chain/runes/rune-standing.queries.ts';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import { kindChoices } from '#http/lists/kind-choices.ts';
import { marketSaleLines } from '#http/market/pages/market-page-parts.ts';
import { runeLine } from '#http/ord/runes/runes-page.ts';
import { cardOf } from '#http/server/answers/site.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { keysBetween } from '#kernel/primitives/inscription-key.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { blockSalesMax, countSalesOfBlock, salesOfBlock } from '#market/sales/block-sales.store.ts';
import type { BlockTab, BlockTabView } from '#web/pages/block.page.ts';
import type { ListChoice } from '#web/parts/choices.ts';
import type { BoundedCount, Known } from '#web/parts/facts.ts';
import { keyIn } from './page-places.ts';

/** Maximum number of cards on a page of a block. 60 cards fill rows of two, three, four and six. */
const cardsPerPage = 60;
/** Maximum number of rows on a page of sales or runes. The names and pictures of each row take some lookups. */
const rowsPerPage = 50;

/** Lists of a block in addition to its inscriptions. */
export interface BlockLists {
  readonly sales: Known<BoundedCount>;
  /** Keys of the runes that the block etched, in order. */
  readonly runeKeys: Known<readonly number[]>;
}

export async function blockLists(client: ClientBase, block: BlockWithKeys): Promise<BlockLists> {
  const areRunesKnown = await knowsRunesAt(client, block.height);
  return {
    sales: await salesCount(client, block),
    runeKeys: areRunesKnown
      ? { known: await runeKeysOfBlock(client, block.height) }
      : { unknown: 'runes of this block are not known here' },
  };
}

async function salesCount(client: ClientBase, block: BlockWithKeys): Promise<Known<BoundedCount>> {
  if (await areSalesLeftOut(client)) return { unknown: 'sales are not indexed here' };
  if (!block.hasSpent) return { unknown: 'the outputs that it spends are missing' };
  if (!(await hasBlock(client, 'sales', block.height))) return { unknown: 'sales are still being indexed' };
  const count = await countSalesOfBlock(client, block.height);
  const shown = Math.min(count, blockSalesMax);
  // if earlier blocks are missing, sales of their inscriptions are not counted
  return { known: { count: shown, isLeast: count > blockSalesMax || !block.anchored } };
}

/** The requested list of a block's page. */
export interface BlockTabQuestion {
  readonly tab: BlockTab;
  readonly kind: InscriptionKind | undefined;
  /** Number of the page, from 1. */
  readonly page: number;
  /** The cursor in a list of one kind of inscription. It is a key of an inscription. */
  readonly after: string | undefined;
  readonly network: NetworkParameters;
}

/**
 * The rows of a tab. A list of one kind changes settings of the query planner, so this must be the last read in a
 * snapshot.
 */
export async function blockTab(
  { client, tip }: Pick<Snapshot, 'client' | 'tip'>,
  block: BlockWithKeys,
  lists: BlockLists,
  question: BlockTabQuestion,
): Promise<BlockTabView> {
  switch (question.tab) {
    case 'inscriptions':
      return question.kind === undefined
        ? allCards(client, block, question.page)
        : cardsOfKind(client, block, question.kind, question.after);
    case 'sales':
      return salesTab(client, block, lists, question);
    case 'runes':
      return runesTab(client, tip, lists, question.page);
  }
}

/** Links that restrict a block's list to one kind of inscription. */
const kindsOf = ({ height }: BlockWithKeys, current?: InscriptionKind): ListChoice[] =>
  kindChoices(current, (kind) => `/block/${height}${kind === undefined ? '' : `?kind=${kind}`}`);

async function allCards(client: ClientBase, block: BlockWithKeys, page: number): Promise<BlockTabView> {
  const end = block.firstKey + block.inscriptionCount;
  const from = Math.min(block.firstKey + (page - 1) * cardsPerPage, end);
  const summaries = await inscriptionSummaries(client, keysBetween(from, Math.min(from + cardsPerPage, end)));
  const totalPages = Math.ceil(block.inscriptionCount / cardsPerPage);
  return {
    tab: 'inscriptions',
    kinds: kindsOf(block),
    cards: summaries.map(cardOf),
    steps: { page, totalPages },
  };
}

async function cardsOfKind(
  client: ClientBase,
  block: BlockWithKeys,
  kind: InscriptionKind,
  after: string | undefined,
): Promise<BlockTabView> {
  const { height } = block;
  const listed = await listInscriptions(client, {
    filter: { kind, from: height, to: height },
    order: 'asc',
    limit: cardsPerPage,
    after: after === undefined ? null : keyIn(after),
  });
  const keys = listed.inscriptions.map(({ key }) => key);
  const path = `/block/${height}?kind=${kind}`;
  return {
    tab: 'inscriptions',
    kinds: kindsOf(block, kind),
    cards: (await inscriptionSummaries(client, keys)).map(cardOf),
    steps: {
      first: after === undefined ? null : path,
      next: listed.endKey === null ? null : `${path}&after=${listed.endKey}`,
    },
  };
}

async function salesTab(
  client: ClientBase,
  { height }: BlockWithKeys,
  { sales }: BlockLists,
  { page, network }: BlockTabQuestion,
): Promise<BlockTabView> {
  if ('unknown' in sales) return { tab: 'sales', sales, steps: { page, totalPages: 0 } };
  const found = await salesOfBlock(client, height, { from: (page - 1) * rowsPerPage, limit: rowsPerPage });
  return {
    tab: 'sales',
    sales: { known: await marketSaleLines(client, found, network) },
    steps: { page, totalPages: Math.ceil(sales.known.count / rowsPerPage) },
  };
}

async function runesTab(
  client: ClientBase,
  tip: Tip | null,
  { runeKeys }: BlockLists,
  page: number,
): Promise<BlockTabView> {
  if ('unknown' in runeKeys) return { tab: 'runes', runes: runeKeys, steps: { page, totalPages: 0 } };
  const from = (page - 1) * rowsPerPage;
  const found = await runesOfKeys(client, runeKeys.known.slice(from, from + rowsPerPage));
  return {
    tab: 'runes',
    runes: { known: found.map((rune) => runeLine(rune, tip)) },
    steps: { page, totalPages: Math.ceil(runeKeys.known.length / rowsPerPage) },
  };
}

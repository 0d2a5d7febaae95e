import type { ClientBase } from 'pg';
import type { InscriptionKind } from '#chain/inscriptions/inscription-filter.ts';
import { pendingRunes } from '#chain/pending/pending-runes.queries.ts';
import {
  newestPendingInscriptions,
  newestPendingOfKind,
} from '#chain/pending/pending-transaction.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import { kindChoices } from '#http/lists/kind-choices.ts';
import { marketSaleLines } from '#http/market/pages/market-page-parts.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { newestPendingSales, type PendingSaleCursor } from '#market/sales/pending-sales.store.ts';
import type { MempoolTab, MempoolTabView } from '#web/pages/mempool.page.ts';
import { pendingCardOf } from './pending-card.ts';
import { pendingRuneLines } from './pending-rune-lines.ts';

/** Maximum number of cards on a page, because a list has at most 48 pictures. */
const cardsMax = 48;
/**
 * Maximum number of sales, or of transactions with runes, on a page. The check whether a reader may see a row takes 50
 * µs.
 */
const rowsMax = 50;

/** A cursor above all positions. */
const newest = Number.MAX_SAFE_INTEGER;
/** Largest value of the database columns of inputs and positions, which are integers. */
const integerMax = 2 ** 31 - 1;

/** The list that a page of the mempool shows. */
export interface MempoolQuestion {
  readonly tab: MempoolTab;
  readonly kind: InscriptionKind | undefined;
  /** A position in the list. The page has the rows that are older than this position. */
  readonly before: string | undefined;
  readonly network: NetworkParameters;
}

/** Rows of a tab, newest first. Throws `request_invalid`. */
export async function mempoolTab(client: ClientBase, question: MempoolQuestion): Promise<MempoolTabView> {
  switch (question.tab) {
    case 'inscriptions':
      return inscriptionsTab(client, question);
    case 'sales':
      return salesTab(client, question);
    case 'runes':
      return runesTab(client, question);
  }
}

/** The numbers in a cursor, each with a limited number of digits. Throws `request_invalid`. */
function placeIn(text: string, count: number): number[] {
  const numbers = text.split('.').map((part) => (/^\d{1,15}$/u.test(part) ? Number(part) : Number.NaN));
  if (numbers.length === count && !numbers.some(Number.isNaN)) return numbers;
  throw new AppError(
    'request_invalid',
    'before is not a position in this list; follow the links of the page',
    {
      parameter: 'before',
    },
  );
}

function positionIn(text: string | undefined): number {
  const [position = newest] = text === undefined ? [] : placeIn(text, 1);
  return position;
}

const path = (parameters: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? '/mempool' : `/mempool?${new URLSearchParams(given).toString()}`;
};

async function inscriptionsTab(
  client: ClientBase,
  { kind, before }: MempoolQuestion,
): Promise<MempoolTabView> {
  const from = positionIn(before);
  const { pending, lookedTo } =
    kind === undefined
      ? { pending: await newestPendingInscriptions(client, from, cardsMax + 1), lookedTo: null }
      : await newestPendingOfKind(client, kind, from, cardsMax + 1);
  const shown = pending.slice(0, cardsMax);
  const last = shown.at(-1)?.position ?? 0;
  // if one transaction fills the page, only the transaction's own page shows its other reveals
  const isMore = pending.length > cardsMax && last < (shown[0]?.position ?? 0);
  const next = isMore ? last : lookedTo;
  return {
    tab: 'inscriptions',
    kinds: kindChoices(kind, (to) => path({ kind: to })),
    cards: shown.map(pendingCardOf),
    next: next === null ? null : path({ kind, before: String(next) }),
  };
}

function saleIn(before: string | undefined): PendingSaleCursor {
  if (before === undefined) return { position: newest, input: integerMax, place: integerMax };
  const [position = 0, input = 0, place = 0] = placeIn(before, 3);
  return { position, input: Math.min(input, integerMax), place: Math.min(place, integerMax) };
}

async function salesTab(client: ClientBase, { before, network }: MempoolQuestion): Promise<MempoolTabView> {
  const from = saleIn(before);
  if (await areSalesLeftOut(client))
    return { tab: 'sales', sales: { unknown: 'sales are not indexed here' }, next: null };
  const found = await newestPendingSales(client, from, rowsMax + 1);
  const shown = found.slice(0, rowsMax).map((sale) => ({
    ...sale,
    id: sale.item,
    time: Math.floor(sale.first_seen.getTime() / 1000),
  }));
  const last = found.length > rowsMax ? shown.at(-1) : undefined;
  return {
    tab: 'sales',
    sales: { known: await marketSaleLines(client, shown, network) },
    next:
      last === undefined
        ? null
        : path({ tab: 'sales', before: `${last.position}.${last.input}.${last.place}` }),
  };
}

async function runesTab(client: ClientBase, { before }: MempoolQuestion): Promise<MempoolTabView> {
  const from = positionIn(before);
  const { state } = await runeStanding(client);
  if (state !== 'known') return { tab: 'runes', runes: { unknown: 'runes are not known here' }, next: null };
  const found = await pendingRunes(client, { script: null, key: null }, from, rowsMax + 1, 'desc');
  const shown = found.slice(0, rowsMax);
  const last = found.length > rowsMax ? shown.at(-1) : undefined;
  return {
    tab: 'runes',
    runes: { known: pendingRuneLines(shown) },
    next: last === undefined ? null : path({ tab: 'runes', before: String(last.position) }),
  };
}

import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import { Type } from 'typebox';
import { type RuneDetail, runeKeysByPrefix, runesOfKeys } from '#chain/runes/rune.queries.ts';
import { type RuneLists, type RuneOrders, type RuneSort, runeSorts } from '#chain/runes/rune-orders.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import type { AcceptedForm } from '#http/server/routes/accepted-form.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { zeroU128 } from '#kernel/runes/u128.ts';
import { runesPage } from '#web/pages/runes.page.ts';
import type { RuneLine } from '#web/parts/runes-table.ts';
import { mintStateOf } from './mint-state.ts';
import { mintedPercent, runeNamed } from './rune-pages.ts';

/** Maximum number of runes on a page. ord's pages have the same number. */
const runesPerPage = 50;

/** The query of a person who reads the list. */
export interface RunesQuestion {
  /** The text that the person typed. */
  readonly query: string;
  /** The letters with which names must begin. `null` if the text has other characters. */
  readonly prefix: string | null;
  readonly sort: RuneSort;
  /** Whether only runes are listed that the next block can mint. */
  readonly isMinting: boolean;
  /** Number of the page, from 1. */
  readonly page: number;
}

const pageText = (description: string, acceptedForm: AcceptedForm) =>
  Type.Optional(
    // accept any value, even a list, because meaningless values count as absent
    Type.Unknown({ description: `${description}; only the HTML page reads it`, acceptedForm }),
  );

/** Query parameters of the HTML page. ord's JSON has no query parameters. */
export const runesQuery = Type.Object({
  q: pageText('the beginning of names, in any case, with any spacers', { type: 'string', maxLength: 60 }),
  sort: pageText('the order', { type: 'string', enum: [...runeSorts] }),
  minting: pageText('now: only runes that the next block can mint', { type: 'string', enum: ['now'] }),
  page: pageText('the page, from 1', { type: 'integer', minimum: 1, maximum: 999_999_999 }),
});

/** Maximum number of characters of a query. The longest name has 28 letters and 27 spacers. */
const queryMax = 60;
const pageMax = 1e9;

/**
 * Reads the query of the page. Never throws. People edit URLs, so meaningless values count as absent.
 *
 * @param place the page number in ord's path, from 0
 */
export function runesQuestionOf(query: unknown, place: number): RunesQuestion {
  const given = (query ?? {}) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const value = given[name];
    return typeof value === 'string' ? value.trim().slice(0, queryMax) : '';
  };
  const page = Number(/^\d{1,9}$/u.exec(text('page'))?.[0] ?? place + 1);
  const letters = text('q')
    .toUpperCase()
    .replace(/[•.\s]/gu, '');
  return {
    query: text('q'),
    prefix: /^[A-Z]{0,28}$/u.test(letters) ? letters : null,
    sort: runeSorts.find((sort) => sort === text('sort')) ?? 'newest',
    isMinting: text('minting') === 'now',
    page: Math.min(Math.max(page, 1), pageMax),
  };
}

/** Sends the page of `/runes`. */
export async function sendRunesPage(
  deps: SiteDependencies & { readonly pool: pg.Pool },
  lists: RuneLists,
  reply: FastifyReply,
  question: RunesQuestion,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const { prefix } = question;
  const isOrdered = question.sort === 'mints' || question.sort === 'name' || question.isMinting;
  const first = await withSnapshot(deps.pool, tipOfRunes, signal);
  // read the order outside the snapshot, because this may take a second and must not hold a connection for that long
  const orders = isOrdered && prefix !== null ? await lists.at(first, signal) : null;
  return withSnapshot(
    deps.pool,
    async ({ client, tip }) => {
      const { count: countOfAll } = await requireRunes(client);
      const named = prefix === null || prefix === '' ? null : await runeKeysByPrefix(client, prefix);
      const { keys, count } = prefix === null ? noKeys : keysOf(question, countOfAll, named, orders);
      const runes = await runesOfKeys(client, keys);
      const view = {
        ...question,
        site: siteOf(deps, tip),
        runes: runes.map((rune) => runeLine(rune, tip)),
        count,
        countOfAll,
        totalPages: Math.ceil(count / runesPerPage),
      };
      return sendPage(reply, runesPage(view));
    },
    signal,
  );
}

const noKeys: RuneKeys = { keys: [], count: 0 };

async function tipOfRunes({ client, tip }: Snapshot): Promise<Tip | null> {
  await requireRunes(client);
  return tip;
}

/** The runes on one page of a list. */
interface RuneKeys {
  /** Keys of the runes on the page, in order. */
  readonly keys: readonly number[];
  /** Number of runes in the complete list. */
  readonly count: number;
}

function keysOf(
  { sort, isMinting, page }: RunesQuestion,
  countOfAll: number,
  named: readonly number[] | null,
  orders: RuneOrders | null,
): RuneKeys {
  const begin = (page - 1) * runesPerPage;
  const listed = namedInOrder(sort, isMinting, named, orders);
  if (listed === null) {
    // no list of keys is needed, because the runes have all keys from 0 on
    const left = Math.max(0, Math.min(runesPerPage, countOfAll - begin));
    const keyAt = (place: number): number => (sort === 'newest' ? countOfAll - 1 - place : place);
    return { keys: Array.from({ length: left }, (_, place) => keyAt(begin + place)), count: countOfAll };
  }
  return { keys: listed.slice(begin, begin + runesPerPage), count: listed.length };
}

/**
 * Keys of the runes with a prefix, in the requested order. `null` if the list has all runes in the order of their keys.
 */
function namedInOrder(
  sort: RuneSort,
  isMinting: boolean,
  named: readonly number[] | null,
  orders: RuneOrders | null,
): readonly number[] | null {
  const inOrder = orders === null ? null : orders.list(sort, isMinting);
  if (named === null || inOrder === null) return inOrder ?? sorted(named, sort);
  const wanted = new Set(named);
  return inOrder.filter((key) => wanted.has(key));
}

function sorted(keys: readonly number[] | null, sort: RuneSort): readonly number[] | null {
  return keys === null ? null : keys.toSorted((a, b) => (sort === 'newest' ? b - a : a - b));
}

/** A rune as a line of a list. */
export function runeLine(rune: RuneDetail, tip: Tip | null): RuneLine {
  const { key, height, mints, terms } = rune;
  return {
    ...runeNamed(rune),
    number: key,
    height,
    mints,
    cap: terms === null ? null : String(terms.cap ?? zeroU128),
    mintedPercent: mintedPercent(rune),
    isOpen: mintStateOf(rune, tip === null ? 0 : tip.height + 1) === 'open',
  };
}

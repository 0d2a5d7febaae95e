import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { chainCounts, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { listInscriptions } from '#chain/inscriptions/inscription-list.queries.ts';
import {
  addressBalance,
  addressOutputs,
  hasAddressIndex,
  heldCount,
  type OutputPosition,
} from '#chain/outputs/address.queries.ts';
import { mempoolState, pendingTransfers, type TransferCursor } from '#chain/pending/pending.queries.ts';
import { pendingBalances } from '#chain/pending/pending-runes.queries.ts';
import { pendingInscriptionsTo } from '#chain/pending/pending-transaction.queries.ts';
import { balancesOfScript, type NamedRune } from '#chain/runes/address-runes.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { contentsOf, type FilledOutput } from '#http/lists/address-outputs.ts';
import { choice } from '#http/parameters/list-parameters.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import {
  type AddressTabView,
  type AddressView,
  addressPage,
  addressTabs,
  type OwnedOutput,
} from '#web/pages/address.page.ts';
import type { BoundedCount } from '#web/parts/facts.ts';
import type { HeldRune } from '#web/parts/held-runes.ts';
import { addressSales } from './address-sales.ts';
import { rowsMax } from './chain-sources.ts';
import { heldRune, holdingsOf, satributesIn } from './holdings.ts';
import { keyIn, notOurs } from './page-places.ts';
import { pendingCardOf } from './pending-card.ts';

/** Maximum number of outputs, and of inscriptions, that are counted for a page. Counting takes some milliseconds. */
const countedMax = 10_000;

/** An address, and the requested part of its data. */
interface AddressQuestion {
  readonly address: string;
  readonly script: Uint8Array;
  readonly tab?: string | undefined;
  readonly after?: string | undefined;
}

/** A page of a tab. The contents of the outputs are not in words yet. */
interface TabRows {
  readonly shown: AddressTabView;
  readonly filled: readonly FilledOutput[];
  readonly next: string | null;
}

/** Sends the page of an address. Throws `request_invalid`, and `index_missing` during a first sync. */
export async function sendAddressPage(
  deps: AppDependencies,
  reply: FastifyReply,
  { address, script, tab: tabText, after }: AddressQuestion,
): Promise<FastifyReply> {
  const asker = askerOf(reply);
  const tab = choice(tabText, 'tab', addressTabs) ?? 'inscriptions';
  const { tip, rows, totals } = await withSnapshot(
    deps.pool,
    async ({ client, tip: there }) => ({
      tip: there,
      totals: await totalsOf(client, there, script),
      rows: await tabRows(client, { deps, tip: there, script, tab, after }),
    }),
    asker.signal,
  );
  const shown =
    rows.shown.tab === 'outputs' && rows.shown.outputs !== null
      ? { ...rows.shown, outputs: await ownedOutputs(deps, rows.filled, asker.client) }
      : rows.shown;
  const site = siteOf(deps, tip);
  const view: AddressView = {
    site,
    address,
    ...totals,
    shown,
    isLater: after !== undefined,
    next: rows.next,
  };
  return sendPage(reply, addressPage(view), { thumbnails: true });
}

type Totals = Pick<AddressView, 'inscriptions' | 'runes' | 'outputs' | 'gap'>;

const bounded = (count: number, most: number): BoundedCount => ({
  count: Math.min(count, most),
  isLeast: count > most,
});

async function totalsOf(client: ClientBase, tip: Tip | null, script: Uint8Array): Promise<Totals> {
  const balance = (await hasAddressIndex(client)) ? await addressBalance(client, script, countedMax) : null;
  const runes = await runesAfter(client, tip, script, -1);
  const inscriptions = await heldCount(client, script, countedMax);
  return {
    inscriptions: inscriptions === null ? null : bounded(inscriptions, countedMax),
    runes: runes === null ? null : bounded(runes.length, rowsMax),
    outputs: balance === null ? null : { ...bounded(balance.outputs, countedMax), sats: balance.sats },
    gap: balance === null ? await gapWords(client) : null,
  };
}

/** A note that outputs are unknown, because the index lacks some blocks. `null` if no block is missing. */
async function gapWords(client: ClientBase): Promise<string | null> {
  const { islands } = await chainCounts(client);
  return islands > 1 ? 'Blocks are missing here, so only inscriptions with a known owner are listed.' : null;
}

/** The runes of a page, and one rune more. `null` if runes are unknown. */
async function runesAfter(client: ClientBase, tip: Tip | null, script: Uint8Array, above: number) {
  const { state } = await runeStanding(client);
  if (state !== 'known' || tip === null) return null;
  return balancesOfScript(client, script, { height: tip.height, above, limit: rowsMax + 1 });
}

interface TabQuestion {
  readonly deps: AppDependencies;
  readonly tip: Tip | null;
  readonly script: Uint8Array;
  readonly tab: AddressTabView['tab'];
  readonly after: string | undefined;
}

async function tabRows(client: ClientBase, question: TabQuestion): Promise<TabRows> {
  switch (question.tab) {
    case 'inscriptions':
      return inscriptionRows(client, question);
    case 'runes':
      return runeRows(client, question);
    case 'outputs':
      return outputRows(client, question);
    case 'pending':
      return pendingRows(client, question);
    case 'sold':
    case 'bought':
      return soldRows(client, question.tab, question);
  }
}

async function inscriptionRows(client: ClientBase, { script, after }: TabQuestion): Promise<TabRows> {
  const listed = await listInscriptions(client, {
    filter: { owner: script },
    order: 'desc',
    limit: rowsMax,
    after: after === undefined ? null : keyIn(after),
  });
  const keys = listed.inscriptions.map(({ key }) => key);
  const cards = (await inscriptionSummaries(client, keys)).map(cardOf);
  const next = listed.endKey === null ? null : String(listed.endKey);
  return { shown: { tab: 'inscriptions', cards }, filled: [], next };
}

async function runeRows(client: ClientBase, { tip, script, after }: TabQuestion): Promise<TabRows> {
  const balances = await runesAfter(client, tip, script, after === undefined ? -1 : keyIn(after));
  const shown = balances?.slice(0, rowsMax) ?? null;
  const runes = shown?.map(({ rune, amount }) => runeWith(rune, amount)) ?? null;
  const isMore = (balances?.length ?? 0) > rowsMax;
  return {
    shown: { tab: 'runes', runes },
    filled: [],
    next: isMore ? String(shown?.at(-1)?.rune.key) : null,
  };
}

const runeWith = (rune: NamedRune, amount: U128): HeldRune => ({
  name: formatSpacedRune(rune),
  amount: shownAmount(amount, rune.divisibility),
  symbol: rune.symbol === null ? null : String.fromCodePoint(rune.symbol),
});

async function outputRows(client: ClientBase, { script, after }: TabQuestion): Promise<TabRows> {
  const place = after === undefined ? null : positionIn(after);
  if (!(await hasAddressIndex(client)))
    return { shown: { tab: 'outputs', outputs: null }, filled: [], next: null };
  const outputs = await addressOutputs(client, script, rowsMax + 1, place);
  const filled = await contentsOf(client, outputs.slice(0, rowsMax));
  const last = outputs[rowsMax - 1];
  const next =
    outputs.length > rowsMax && last !== undefined
      ? `${last.height}.${displayHash(last.txid)}.${last.vout}`
      : null;
  return { shown: { tab: 'outputs', outputs: [] }, filled, next };
}

function positionIn(text: string): OutputPosition {
  const [height = '', hash = '', vout = '', ...more] = text.split('.');
  const txid = parseTxid(hash);
  if (txid === null || more.length > 0) throw notOurs();
  return { height: keyIn(height), txid, vout: keyIn(vout) };
}

async function ownedOutputs(
  deps: AppDependencies,
  filled: readonly FilledOutput[],
  client: string,
): Promise<OwnedOutput[]> {
  const book = satributesInForce(deps);
  const owned: OwnedOutput[] = [];
  for (const { output, inscriptions, runes, sats } of filled) {
    const ids = inscriptions.map(({ txid, index }) => ({
      id: formatInscriptionId(txid, index),
      number: null,
    }));
    const unknown = runes === null && ids.length === 0 ? 'runes are not indexed here' : null;
    owned.push({
      outpoint: `${displayHash(output.txid)}:${output.vout}`,
      value: output.value,
      height: output.height,
      holds: holdingsOf(ids, runes?.map(heldRune) ?? [], await satributesIn(sats, book, client), unknown),
    });
  }
  return owned;
}

async function pendingRows(client: ClientBase, { deps, script, after }: TabQuestion): Promise<TabRows> {
  const place = after === undefined ? null : transferIn(after);
  const isFollowed = (await mempoolState(client))?.isFollowed === true;
  if (!isFollowed) {
    return { shown: { tab: 'pending', isFollowed, cards: [], moves: [], runes: [] }, filled: [], next: null };
  }
  const found = await pendingTransfers(client, { script, inscription: null }, place, rowsMax + 1);
  const transfers = found.slice(0, rowsMax);
  const last = found.length > rowsMax ? transfers.at(-1) : undefined;
  // lists other than the list of moves appear only on the first page
  const inscribed = place === null ? await pendingInscriptionsTo(client, script, rowsMax) : [];
  const balances = place === null ? (await pendingBalances(client, script)).slice(0, rowsMax) : [];
  const addressOf = (of: Uint8Array | null): string | null =>
    of === null ? null : scriptToAddress(of, deps.network);
  const moves = transfers.map((row) => ({
    inscription: { id: formatInscriptionId(row.inscription_txid, row.inscription_index), number: null },
    txid: displayHash(row.txid),
    from: addressOf(row.from_script),
    to: addressOf(row.script),
    fee: row.fee,
    vsize: row.vsize,
  }));
  const runes = balances.map(({ rune, received, sent }) => ({
    rune: runeWith(rune, received),
    sent: shownAmount(sent, rune.divisibility),
  }));
  return {
    shown: { tab: 'pending', isFollowed, cards: inscribed.map(pendingCardOf), moves, runes },
    filled: [],
    next:
      last === undefined
        ? null
        : `${last.position}.${formatInscriptionId(last.inscription_txid, last.inscription_index)}`,
  };
}

async function soldRows(
  client: ClientBase,
  side: 'sold' | 'bought',
  { deps: { network }, script, after }: TabQuestion,
): Promise<TabRows> {
  const { sales, next } = await addressSales(client, { network, script, side, after });
  return { shown: { tab: side, sales }, filled: [], next };
}

function transferIn(text: string): TransferCursor {
  const [position = '', id = '', ...more] = text.split('.');
  const inscription = parseInscriptionId(id);
  if (inscription === null || more.length > 0 || !/^\d{1,15}$/u.test(position)) throw notOurs();
  return { position: Number(position), inscription };
}

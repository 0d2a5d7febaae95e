import assert from 'node:assert/strict';
import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { type InscriptionSummary, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { inscriptionKeys } from '#chain/inscriptions/inscription.queries.ts';
import { lostOutpoint, unboundOutpoint } from '#chain/inscriptions/location.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { outpointText } from '#http/ord/outputs/output-facts.ts';
import type { WholeOutput } from '#http/ord/outputs/outputs.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { type OutputView, outputPage, type RangeLine } from '#web/pages/output.page.ts';
import { type ChainSources, rowsMax } from './chain-sources.ts';
import { heldRune, satributesIn } from './holdings.ts';
import { pendingCardOf } from './pending-card.ts';
import { type ReadTransaction, readTransaction } from './read-transaction.ts';
import { scriptWords } from './script-words.ts';
import { type TransactionFacts, transactionFacts } from './transaction-facts.ts';
import { nodeFacts } from './transaction-node.ts';
import { isAt, isPaidTo, isTold, outputLines } from './transaction-rows.ts';

/** Sends the page of an output. Throws `not_found`, and `no_node` if only a node knows it. */
export async function sendOutputPage(
  sources: ChainSources,
  reply: FastifyReply,
  outpoint: Outpoint,
): Promise<FastifyReply> {
  const asker = askerOf(reply);
  const text = outpointText(outpoint);
  const kind = text === lostOutpoint ? 'lost' : text === unboundOutpoint ? 'unbound' : 'output';
  const read = kind === 'output' ? await readTransaction(sources, outpoint.txid, asker) : null;
  const { tip, view } =
    read === null || read.transaction === null
      ? await viewByIndex(sources, outpoint, kind, asker)
      : await viewByTransaction(sources, read, outpoint, asker);
  const site = siteOf(sources.deps, tip);
  return sendPage(reply, outputPage({ ...view, site, outpoint: text, kind }), { thumbnails: true });
}

type OwnView = Omit<OutputView, 'site' | 'outpoint' | 'kind'>;
interface Made {
  readonly tip: Tip | null;
  readonly view: OwnView;
}

/** The view of an output, read from its transaction. This view also shows the contents of a spent output. */
async function viewByTransaction(
  { deps, node }: ChainSources,
  read: ReadTransaction,
  outpoint: Outpoint,
  asker: Asker,
): Promise<Made> {
  const { vout } = outpoint;
  const output = read.transaction?.outputs[vout];
  if (output === undefined) throw new AppError('not_found', `output ${outpointText(outpoint)} not found`);
  const { tip, facts, keys, summaries } = await withSnapshot(
    deps.pool,
    async (snapshot) => {
      const found = await transactionFacts(snapshot.client, read, [outpoint]);
      const there = keysAt(found, vout);
      return {
        tip: snapshot.tip,
        facts: found,
        keys: there,
        summaries: await inscriptionSummaries(snapshot.client, there.slice(0, rowsMax)),
      };
    },
    asker.signal,
  );
  const untold = isTold(facts, 0, vout) ? [] : [0];
  const question = { read, inputs: [], outputs: [outpoint], untold };
  const told = await nodeFacts(node?.of(asker) ?? null, question);
  const book = satributesInForce(deps);
  const parts = { read, facts, told, network: deps.network, book, client: asker.client };
  const [line] = await outputLines(parts, [output], { from: vout });
  assert(line !== undefined, 'an output has one row');
  const { value, address, script, spent } = line;
  const isUnknown = facts.moved === null && facts.pending === null;
  const view: OwnView = {
    value,
    address,
    script,
    spent,
    block: read.block,
    isPending: facts.pending !== null || told.entry !== null,
    ...cardsOf(summaries, isUnknown ? null : keys.length),
    pendingCards: pendingAt(facts, vout),
    ...runesOf(facts, vout),
    ...(await rangeLines(facts.sats?.(outpoint) ?? null, book, asker)),
    why: null,
  };
  return { tip, view };
}

const pendingAt = ({ pending }: TransactionFacts, vout: number): OwnView['pendingCards'] =>
  (pending?.inscriptions ?? [])
    .filter((each) => each.vout === vout)
    .slice(0, rowsMax)
    .map(pendingCardOf);

function runesOf({ runes }: TransactionFacts, vout: number): Pick<OwnView, 'runes' | 'isAllRunes'> {
  const paid = runes?.filter((each) => isPaidTo(each, vout)) ?? null;
  return {
    runes: paid?.slice(0, rowsMax).map(heldRune) ?? null,
    isAllRunes: (paid?.length ?? 0) <= rowsMax,
  };
}

const keysAt = ({ revealed, moved }: TransactionFacts, vout: number): InscriptionKey[] =>
  [...revealed, ...(moved ?? [])].filter((each) => isAt(each, vout)).map(({ key }) => key);

const cardsOf = (
  summaries: readonly InscriptionSummary[],
  inscriptionCount: number | null,
): Pick<OwnView, 'cards' | 'inscriptionCount'> => ({ cards: summaries.map(cardOf), inscriptionCount });

/**
 * The view of an output from the index alone. It is used if the bytes of the output's transaction are unavailable, or
 * if the output is not a real one.
 */
async function viewByIndex(
  { deps, outputs }: ChainSources,
  outpoint: Outpoint,
  kind: OutputView['kind'],
  asker: Asker,
): Promise<Made> {
  const { tip, facts, runes, sats } = await outputs.all(outpoint, asker);
  const { inscriptions, value, script, spent, confirmations } = facts;
  const summaries = await withSnapshot(
    deps.pool,
    async ({ client }) => summariesOf(client, inscriptions.slice(0, rowsMax)),
    asker.signal,
  );
  const book = satributesInForce(deps);
  return {
    tip,
    view: {
      value,
      address: script === null ? null : scriptToAddress(script, deps.network),
      script: script === null ? null : scriptWords(script),
      spent: spentByIndex(spent),
      block: null,
      isPending: kind === 'output' && confirmations === 0,
      ...cardsOf(summaries, inscriptions.length),
      pendingCards: [],
      runes: runes?.slice(0, rowsMax).map(heldRune) ?? null,
      isAllRunes: (runes?.length ?? 0) <= rowsMax,
      ...(await rangeLines(kind === 'output' ? sats : null, book, asker)),
      why: kind === 'output' ? 'the bytes of its transaction are not here' : null,
    },
  };
}

function spentByIndex(spent: WholeOutput['facts']['spent']): OutputView['spent'] {
  if (spent === null) return { kind: 'unknown' };
  return spent ? { kind: 'spent', txid: null, height: null } : { kind: 'unspent' };
}

async function summariesOf(
  client: ClientBase,
  ids: WholeOutput['facts']['inscriptions'],
): Promise<InscriptionSummary[]> {
  const keys = await inscriptionKeys(client, ids);
  return inscriptionSummaries(
    client,
    keys.filter((key) => key !== null),
  );
}

async function rangeLines(
  ranges: readonly SatRange[] | null,
  book: SatributeBook,
  { client }: Asker,
): Promise<Pick<OutputView, 'ranges' | 'rangeCount'>> {
  if (ranges === null) return { ranges: null, rangeCount: 0 };
  const lines: RangeLine[] = [];
  for (const { start, end } of ranges.slice(0, rowsMax))
    lines.push({ start, end, satributes: await satributesIn([{ start, end }], book, client) });
  return { ranges: lines, rangeCount: ranges.length };
}

import { Type } from 'typebox';
import { inscriptionCount } from '#chain/outputs/output.queries.ts';
import { runeEtchedBy } from '#chain/runes/rune.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { sendOrd } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { inputJson, joined, transactionJson } from '#http/ord/answers/transaction-json.ts';
import { type BlockAnswers, bytesBehind, quotedHex } from '#http/ord/blocks/block-answers.ts';
import type { ChainSources } from '#http/pages/chain/chain-sources.ts';
import { sendTransactionPage } from '#http/pages/chain/transaction-page.ts';
import { pageNumberOf, pageQuery } from '#http/parameters/page-number.ts';
import { heightOf, placeOf, txidOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import type { PiecesOfAnswer } from '#http/server/budgets/answer-pieces.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { apiRoute, type RouteSchema } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { type RawTransaction, RawTransactions } from '#indexer/transaction/raw-transaction.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash, type TxidHex } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';
import { decodeJson } from './decode.ts';

const tags = ['ord'] as const;
// expensive, because whole transactions are decoded, and some are found only by reading blocks of 4 MB
const config = { errors: 'plain', guard: open, isDear: true } as const;
const path = Type.Object({ txid: pathParts.txid });

/**
 * The name of a network in ord. For testnet3, ord still uses the name "testnet", because testnet3 was once the only
 * test network.
 */
export function ordChain(network: NetworkName): string {
  return network === 'testnet3' ? 'testnet' : network;
}

/** A path about transactions, and its description in the API document. */
interface TransactionPath {
  readonly url: string;
  readonly operationId: string;
  readonly summary: string;
  readonly response: RouteSchema['response'];
}

/** Routes about transactions: ord's JSON or a page, the transaction as hex, and its envelopes. */
export function transactionsRoutes(app: App, sources: ChainSources, blocks: BlockAnswers): void {
  const { transactions } = sources;
  transactionRoute(app, sources);
  const route = (
    { url, operationId, summary, response }: TransactionPath,
    isRecursive: boolean,
    show: (transaction: RawTransaction) => PiecesOfAnswer,
  ): void => {
    apiRoute(app, {
      method: 'GET',
      url,
      schema: { operationId, summary, tags, params: path, response },
      config,
      handler: async (request, reply) => {
        const txid = txidOf(request.params.txid);
        const asker = askerOf(reply);
        const { tip, transaction } = await transactions.find(txid, asker);
        return sendOrd(request, reply, tip, show(transaction), { recursive: isRecursive, live: true });
      },
    });
  };

  const { decode, liveHex } = ordAnswers;
  const envelopes = {
    url: '/decode/:txid',
    operationId: 'decode',
    summary: 'The envelopes and the runestone of a transaction',
    response: decode,
  };
  route(envelopes, false, (transaction) => ({
    pieces: joined(decodeJson(transaction)),
    bytes: bytesBehind(transaction.bytes),
  }));
  const inHex = {
    url: '/r/tx/:txid',
    operationId: 'recursiveTransaction',
    summary: 'A transaction in hex',
    response: liveHex,
  };
  route(inHex, true, ({ bytes }) => quotedHex(bytes));
  inputRoute(app, blocks);
}

/** Route with a page for clients that accept HTML, and ord's JSON for all others. */
function transactionRoute(app: App, sources: ChainSources): void {
  const { deps, transactions } = sources;
  apiRoute(app, {
    method: 'GET',
    url: '/tx/:txid',
    schema: {
      operationId: 'transaction',
      summary: 'A transaction: ord’s JSON, or a page for clients that accept HTML',
      tags,
      params: path,
      querystring: pageQuery,
      response: ordAnswers.transaction,
    },
    config,
    handler: async (request, reply) => {
      const txid = txidOf(request.params.txid);
      varyBy(reply, 'Accept');
      if (prefersHtml(request.headers.accept))
        return sendTransactionPage(sources, reply, txid, pageNumberOf(request.query.page));
      const asker = askerOf(reply);
      const { tip, transaction } = await transactions.find(txid, asker);
      const facts = await withSnapshot(
        deps.pool,
        async ({ client }) => ({
          count: await inscriptionCount(client, txid),
          etched: await runeEtchedBy(client, txid),
        }),
        asker.signal,
      );
      const pieces = joined(answerJson(transaction, displayHash(txid), facts, deps.network.name));
      const body = { pieces, bytes: bytesBehind(transaction.bytes) };
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });
}

function inputRoute(app: App, blocks: BlockAnswers): void {
  apiRoute(app, {
    method: 'GET',
    url: '/input/:block/:transaction/:input',
    schema: {
      operationId: 'input',
      summary: 'An input by block height, transaction index and input index',
      tags,
      params: Type.Object({ block: pathParts.height, transaction: pathParts.place, input: pathParts.place }),
      response: ordAnswers.input,
    },
    config,
    handler: async (request, reply) => {
      const places = [
        heightOf(request.params.block),
        placeOf(request.params.transaction, 'transaction'),
        placeOf(request.params.input, 'input'),
      ] as const;
      const { tip, bytes } = await blocks.find(request.params.block, false, askerOf(reply));
      const input = transactionAt(bytes, places[1])?.inputs[places[2]];
      if (input === undefined) throw new AppError('not_found', `input /${places.join('/')} not found`);
      const body = { pieces: pathAndInput(places, inputJson(input)), bytes: bytesBehind(bytes) };
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });
}

function* answerJson(
  transaction: RawTransaction,
  txid: TxidHex,
  { count, etched }: { readonly count: number; readonly etched: SpacedRune | null },
  network: NetworkName,
): Generator<string> {
  const etching = etched === null ? 'null' : `"${formatSpacedRune(etched)}"`;
  yield `{"chain":"${ordChain(network)}","etching":${etching},"inscription_count":${count},"transaction":`;
  yield* transactionJson(transaction);
  yield `,"txid":"${txid}"}`;
}

function* pathAndInput(places: readonly number[], input: Iterable<string>): Generator<string> {
  yield `{"path":${JSON.stringify(places)},"input":`;
  yield* input;
  yield '}';
}

function transactionAt(block: Uint8Array, place: number): RawTransaction | null {
  const transactions = RawTransactions.ofBlock(block);
  return place < transactions.count ? transactions.at(place) : null;
}

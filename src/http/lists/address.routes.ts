import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { chainCounts, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { listInscriptions } from '#chain/inscriptions/inscription-list.queries.ts';
import {
  type AddressOutput,
  addressBalance,
  addressOutputs,
  hasAddressIndex,
  type InscribedOutput,
  inscribedOutputs,
  type OutputPosition,
  outpointBytes,
} from '#chain/outputs/address.queries.ts';
import { runesOfOutputs, runesOfScript } from '#chain/runes/rune-balances.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { output } from '#http/ord/ord.schemas.ts';
import { held as heldIn, outputJson } from '#http/ord/outputs.ts';
import { shownBalancesJson } from '#http/ord/runes/rune-json.ts';
import { sendPage } from '#http/pages/send-page.ts';
import { cardOf, siteOf } from '#http/pages/site.ts';
import { prefersJson } from '#http/server/accept.ts';
import { jsonText, pageOrJson, unchanged } from '#http/server/answer-schemas.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { askerOf } from '#http/server/asker.ts';
import { answeredUnchanged, setMoment } from '#http/server/conditional.ts';
import { open } from '#http/server/guard.ts';
import { varyBy } from '#http/server/vary.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { inscriptionsPage } from '#web/inscriptions.page.ts';
import { addressPath, pagingOf, pagingQuery, scriptOf } from './list-parameters.ts';

/** Outputs of one `/address`. ord lists them all; 100,000 are 8 MB. */
const listedMax = 100_000;
/** Outputs of one `/outputs` without a limit: an output takes half a kilobyte there. */
const outputsMax = 20_000;
const cardsMax = 100;
/** Outputs that are summed for a page: takes some milliseconds. */
const countedMax = 10_000;
/** A cursor names the height and outpoint that it follows. */
const positionBytes = 4 + 36;

const addressAnswer = Type.Object({
  inscriptions: Type.Array(Type.String()),
  outputs: Type.Optional(Type.Array(Type.String({ description: 'with an index of addresses' }))),
  runes_balances: Type.Union(
    [
      Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()]), { minItems: 3, maxItems: 3 })),
      Type.Null(),
    ],
    { description: 'name, amount in units of the rune, and symbol; null: not known' },
  ),
  sat_balance: Type.Optional(Type.Integer({ description: 'with an index of addresses' })),
});
const outputTypes = ['any', 'cardinal', 'inscribed', 'runic'] as const;
type OutputType = (typeof outputTypes)[number];

/** What an address holds, in ord's form (docs/ord-api.md, docs/http.md). */
export function addressRoutes(app: App, deps: AppDependencies): void {
  const tags = ['addresses'] as const;
  const config = { errors: 'plain', guard: open, failures: [410, 422] } as const;
  apiRoute(app, {
    method: 'GET',
    url: '/address/:address',
    schema: {
      operationId: 'address',
      summary: 'Contents of an address: a page, or ord’s JSON',
      tags,
      params: addressPath,
      response: { 200: pageOrJson(addressAnswer, 'its contents'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      if (!prefersJson(request.headers.accept)) return addressPage(deps, reply, address, script);
      return sendJson(deps, request, reply, ({ client }) => addressJson(client, script));
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/outputs/:address',
    schema: {
      operationId: 'outputsOfAddress',
      summary: 'The unspent outputs of an address',
      tags,
      params: addressPath,
      querystring: Type.Object({
        type: Type.Optional(
          Type.String({
            description: outputTypes.join(', '),
            acceptedForm: { enum: outputTypes },
            examples: ['inscribed'],
          }),
        ),
        limit: pagingQuery.limit,
        cursor: pagingQuery.cursor,
      }),
      response: { 200: jsonText(Type.Array(output), 'its outputs'), 304: unchanged },
    },
    config,
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      const type = outputTypeOf(request.query.type);
      return sendJson(deps, request, reply, (snapshot) =>
        outputsJson(snapshot, reply, { ...request.query, address, script, type }),
      );
    },
  });
}

async function sendJson(
  { pool }: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (snapshot: Snapshot) => Promise<string>,
): Promise<FastifyReply> {
  varyBy(reply, 'Accept');
  if (await answeredUnchanged(pool, request, reply)) return reply;
  const { tip, json } = await withSnapshot(
    pool,
    async (snapshot) => ({
      tip: snapshot.tip,
      json: await read(snapshot),
    }),
    askerOf(reply).signal,
  );
  setMoment(request, reply, tip);
  return reply.type('application/json; charset=utf-8').send(json);
}

const outpointText = ({ txid, vout }: Pick<AddressOutput, 'txid' | 'vout'>): string =>
  `${displayHash(txid)}:${vout}`;
const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

/** In ord's order. */
function inOrder<Output extends AddressOutput>(outputs: readonly Output[]): Output[] {
  const keyed = outputs.map((output) => ({ output, bytes: outpointBytes(output) }));
  return keyed.sort((a, b) => a.bytes.compare(b.bytes)).map(({ output }) => output);
}

/** `/address` sorts by the vout as a number; ord's table sorts it as little-endian bytes. */
function byOutpoint<Output extends AddressOutput>(outputs: readonly Output[]): Output[] {
  return outputs.toSorted((a, b) => Buffer.compare(a.txid, b.txid) || a.vout - b.vout);
}

function refuseLarge(count: number, most: number): void {
  if (count <= most) return;
  throw new AppError(
    'address_too_large',
    `the address holds more than ${most} outputs: /outputs/<address>?limit=1000 gives them in pages`,
  );
}

async function addressJson(client: ClientBase, script: Uint8Array): Promise<string> {
  const isWhole = await hasAddressIndex(client);
  const held = await inscribedOutputs(client, script, listedMax + 1);
  refuseLarge(inscriptionsOf(held).length, listedMax);
  const inscriptions = inscriptionsOf(byOutpoint(held));
  // fields that the index cannot know are absent, as everywhere (docs/ord-api.md)
  const runes = shownBalancesJson(await runesOfScript(client, script));
  if (!isWhole) return `{"inscriptions":${JSON.stringify(inscriptions)},"runes_balances":${runes}}`;
  const outputs = await addressOutputs(client, script, listedMax + 1);
  refuseLarge(outputs.length, listedMax);
  const fields = JSON.stringify({ inscriptions, outputs: byOutpoint(outputs).map(outpointText) });
  const sats = outputs.reduce((sum, { value }) => sum + value, 0);
  return `${fields.slice(0, -1)},"runes_balances":${runes},"sat_balance":${sats}}`;
}

function inscriptionsOf(outputs: readonly InscribedOutput[]): string[] {
  return outputs.flatMap(({ inscriptions }) => inscriptions.map(idText));
}

function outputTypeOf(text: string | undefined): OutputType {
  if (text === undefined) return 'any';
  const type = outputTypes.find((known) => known === text);
  if (type === undefined) {
    throw new AppError('request_invalid', `type must be one of ${outputTypes.join(', ')}`);
  }
  return type;
}

/**
 * A wallet may spend an output that is reported free of runes, and lose the runes: where runes are not known, nothing
 * is.
 */
async function requireRunesFor(client: ClientBase, type: OutputType): Promise<void> {
  if (type !== 'cardinal' && type !== 'runic') return;
  const { state } = await runeStanding(client);
  if (state === 'filling') await requireNotBehind(client, 'runes');
  if (state === 'known') return;
  const words =
    state === 'absent' ? 'this server has no index of runes' : 'runes are not known: blocks are missing';
  throw new AppError('request_invalid', `type ${type}: ${words}`);
}

interface OutputsQuestion {
  readonly address: string;
  readonly script: Uint8Array;
  readonly type: OutputType;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

async function outputsJson(
  snapshot: Snapshot,
  reply: FastifyReply,
  question: OutputsQuestion,
): Promise<string> {
  const { client, tip } = snapshot;
  const { script, type } = question;
  await requireRunesFor(client, type);
  const held = await inscribedOutputs(client, script, listedMax + 1);
  refuseLarge(inscriptionsOf(held).length, listedMax);
  const heldBy = new Map(held.map((output) => [outpointText(output), output.inscriptions]));
  const outputs = type === 'inscribed' ? inOrder(held) : await anyOutputs(client, reply, question);
  const runes = await runesOfOutputs(client, outputs);
  const sats = await satRangesOf(client, outputs);
  const answers = outputs.flatMap((output) => {
    const inscriptions = (heldBy.get(outpointText(output)) ?? []).map(idText);
    const balances = runes.of(output);
    const isRunic = balances !== null && balances.length > 0;
    if (type === 'runic' && !isRunic) return [];
    if (type === 'cardinal' && (isRunic || inscriptions.length > 0)) return [];
    const confirmations = (tip?.height ?? output.height) - output.height + 1;
    const { value } = output;
    const { address } = question;
    const shown = {
      outpoint: output,
      address,
      confirmations,
      indexed: true,
      inscriptions,
      script,
      spent: false,
      value,
    };
    return outputJson(shown, heldIn(balances, sats.of(output)));
  });
  return `[${answers.join(',')}]`;
}

/** All outputs in ord's order; with a limit or a cursor, a page of them, oldest first. */
async function anyOutputs(
  client: ClientBase,
  reply: FastifyReply,
  { script, limit: limitText, cursor }: OutputsQuestion,
): Promise<AddressOutput[]> {
  if (!(await hasAddressIndex(client))) {
    throw new AppError(
      'not_found',
      'this server has no address index: of its outputs only type=inscribed is known',
    );
  }
  if (limitText === undefined && cursor === undefined) {
    const outputs = await addressOutputs(client, script, outputsMax + 1);
    refuseLarge(outputs.length, outputsMax);
    return inOrder(outputs);
  }
  const { limit } = pagingOf({ limit: limitText }, 'asc');
  const list = `outputs ${Buffer.from(script).toString('hex')}`;
  const place = cursor === undefined ? null : await readCursor(client, list, cursor, positionBytes);
  const outputs = await addressOutputs(
    client,
    script,
    limit + 1,
    place === null ? null : positionOf(place.position),
  );
  const last = outputs[limit - 1];
  if (outputs.length <= limit || last === undefined) return outputs;
  const position = Buffer.alloc(positionBytes);
  position.writeUInt32BE(last.height);
  position.set(outpointBytes(last), 4);
  const next = await writeCursor(client, list, last.height, { page: (place?.page ?? 0) + 1, position });
  reply.header('x-next-cursor', next);
  return outputs.slice(0, limit);
}

function positionOf(bytes: Uint8Array): OutputPosition {
  const position = Buffer.from(bytes);
  // signed, as the columns are, so that cursors made by clients can be compared
  return {
    height: position.readInt32BE(),
    txid: asTxid(position.subarray(4, 36)),
    vout: position.readInt32LE(36),
  };
}

async function addressPage(
  { pool, network }: AppDependencies,
  reply: FastifyReply,
  address: string,
  script: Uint8Array,
): Promise<FastifyReply> {
  return withSnapshot(
    pool,
    async ({ client, tip }) => {
      const isWhole = await hasAddressIndex(client);
      const balance = isWhole ? await addressBalance(client, script, countedMax) : null;
      const listed = await listInscriptions(client, {
        filter: { owner: script },
        order: 'desc',
        limit: cardsMax,
        after: null,
      });
      const keys = listed.inscriptions.map(({ key }) => key);
      const view = {
        site: siteOf(network, tip),
        heading: 'Address',
        filters: [['address', address]] as const,
        notes: balance === null ? await gapWords(client) : [balanceWords(balance)],
        cards: (await inscriptionSummaries(client, keys)).map(cardOf),
        page: 0,
        first: null,
        next: listed.endKey === null ? null : `/inscriptions?${new URLSearchParams({ address }).toString()}`,
      };
      return sendPage(reply, inscriptionsPage(view));
    },
    askerOf(reply).signal,
  );
}

/** With blocks missing, the outputs of an address in those blocks are unknown. */
async function gapWords(client: ClientBase): Promise<string[]> {
  const { islands } = await chainCounts(client);
  return islands > 1 ? ['Blocks are missing here: only inscriptions with a known owner are listed.'] : [];
}

function balanceWords({ outputs, sats }: { outputs: number; sats: Sats }): string {
  return outputs > countedMax
    ? `more than ${countedMax} unspent outputs`
    : `${outputs} unspent outputs, ${sats} sats`;
}

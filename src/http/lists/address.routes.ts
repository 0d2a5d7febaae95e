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
  allAddressOutputs,
  hasAddressIndex,
  heldInscriptions,
  inscribedOutputs,
  type OutputPosition,
  outpointBytes,
} from '#chain/outputs/address.queries.ts';
import {
  type HeldRunes,
  type RuneBalance,
  runesOfOutputs,
  runesOfScript,
} from '#chain/runes/rune-balances.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { type SatRangesOfOutputs, satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { output } from '#http/ord/ord.schemas.ts';
import { held as heldIn, outputParts } from '#http/ord/outputs.ts';
import { shownBalancesParts } from '#http/ord/runes/rune-json.ts';
import { sendPage } from '#http/pages/send-page.ts';
import { cardOf, siteOf } from '#http/pages/site.ts';
import { prefersJson } from '#http/server/accept.ts';
import { jsonText, pageOrJson, unchanged } from '#http/server/answer-schemas.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { askerOf } from '#http/server/asker.ts';
import { type JsonPart, jsonParts, sendPartsInTurns } from '#http/server/budgets/json-in-turns.ts';
import { answeredUnchanged, setMoment } from '#http/server/conditional.ts';
import { open } from '#http/server/guard.ts';
import { varyBy } from '#http/server/vary.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { inTurnsOf } from '#kernel/turns.ts';
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
    config: { ...config, isDear: true },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      if (!prefersJson(request.headers.accept)) return addressPage(deps, reply, address, script);
      return sendJson(deps, request, reply, ({ client }) => readAddress(client, script));
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
    config: { ...config, isDear: true },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      const type = outputTypeOf(request.query.type);
      return sendJson(deps, request, reply, (snapshot) =>
        readOutputs(snapshot, reply, { ...request.query, address, script, type }),
      );
    },
  });
}

/** Reads and sends in turns: an address can have a hundred thousand outputs. */
async function sendJson(
  { pool }: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (snapshot: Snapshot) => Promise<Generator<JsonPart>>,
): Promise<FastifyReply> {
  varyBy(reply, 'Accept');
  if (await answeredUnchanged(pool, request, reply)) return reply;
  const { client, signal } = askerOf(reply);
  const readAll = async (snapshot: Snapshot) => ({ tip: snapshot.tip, parts: await read(snapshot) });
  const { tip, parts } = await inTurnsOf(client, () => withSnapshot(pool, readAll, signal));
  setMoment(request, reply, tip);
  return sendPartsInTurns(reply, parts);
}

const outpointText = ({ txid, vout }: Pick<AddressOutput, 'txid' | 'vout'>): string =>
  `${displayHash(txid)}:${vout}`;
const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

async function readAddress(client: ClientBase, script: Uint8Array): Promise<Generator<JsonPart>> {
  const list = { order: 'number', most: listedMax } as const;
  const isWhole = await hasAddressIndex(client);
  const inscriptions: string[] = [];
  for await (const part of heldInscriptions(client, script, list))
    for (const { id } of part) inscriptions.push(idText(id));
  const runes = await runesOfScript(client, script);
  // fields that the index cannot know are absent, as everywhere (docs/ord-api.md)
  if (!isWhole) return addressParts({ inscriptions }, runes, {});
  const outputs: string[] = [];
  let sats = 0;
  for await (const part of allAddressOutputs(client, script, list)) {
    for (const output of part) {
      outputs.push(outpointText(output));
      sats += output.value;
    }
  }
  return addressParts({ inscriptions, outputs }, runes, { sat_balance: sats });
}

/** ord's `/address`, with the fields before and after the balances of runes, in parts. */
function* addressParts(
  before: Readonly<Record<string, readonly string[]>>,
  runes: readonly RuneBalance[] | null,
  after: Readonly<Record<string, number>>,
): Generator<JsonPart> {
  let start = '{';
  for (const [name, list] of Object.entries(before)) {
    yield `${start}"${name}":`;
    yield* jsonParts(list);
    start = ',';
  }
  yield ',"runes_balances":';
  yield* shownBalancesParts(runes);
  for (const [name, value] of Object.entries(after)) yield `,"${name}":${value}`;
  yield '}';
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

async function readOutputs(
  snapshot: Snapshot,
  reply: FastifyReply,
  question: OutputsQuestion,
): Promise<Generator<JsonPart>> {
  const { client, tip } = snapshot;
  const { script, type } = question;
  await requireRunesFor(client, type);
  const held = await inscribedOutputs(client, script, { order: 'bytes', most: listedMax });
  const heldBy = new Map(held.map((output) => [outpointText(output), output.inscriptions]));
  const outputs = type === 'inscribed' ? held : await anyOutputs(client, reply, question);
  const runes = await runesOfOutputs(client, outputs);
  const sats = await satRangesOf(client, outputs);
  return outputsParts(question, tip, outputs, { heldBy, runes, sats });
}

/** What outputs hold. */
interface Holdings {
  readonly heldBy: ReadonlyMap<string, readonly InscriptionId[]>;
  readonly runes: HeldRunes;
  readonly sats: SatRangesOfOutputs;
}

function* outputsParts(
  { address, script, type }: OutputsQuestion,
  tip: Tip | null,
  outputs: readonly AddressOutput[],
  { heldBy, runes, sats }: Holdings,
): Generator<JsonPart> {
  let before = '[';
  for (const output of outputs) {
    const ids = heldBy.get(outpointText(output)) ?? [];
    const balances = runes.of(output);
    const isRunic = balances !== null && balances.length > 0;
    if (type === 'runic' && !isRunic) continue;
    if (type === 'cardinal' && (isRunic || ids.length > 0)) continue;
    const shown = {
      outpoint: output,
      address,
      confirmations: (tip?.height ?? output.height) - output.height + 1,
      indexed: true,
      inscriptions: ids.map(idText),
      script,
      spent: false,
      value: output.value,
    };
    yield before;
    yield* outputParts(shown, heldIn(balances, sats.of(output)));
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
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
    const outputs: AddressOutput[] = [];
    const list = { order: 'bytes', most: outputsMax } as const;
    for await (const part of allAddressOutputs(client, script, list)) outputs.push(...part);
    return outputs;
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

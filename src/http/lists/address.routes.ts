import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import {
  type AddressOutput,
  allAddressOutputs,
  hasAddressIndex,
  heldInscriptions,
} from '#chain/outputs/address.queries.ts';
import { type RuneBalance, runesOfScript } from '#chain/runes/rune-balances.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { output } from '#http/ord/answers/ord.schemas.ts';
import { shownBalancesParts } from '#http/ord/runes/rune-json.ts';
import { sendAddressPage } from '#http/pages/chain/address-page.ts';
import { addressPath, pagingQuery, scriptOf } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { type JsonPart, jsonParts, sendPartsInTurns } from '#http/server/budgets/json-in-turns.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { jsonText, pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { inTurnsOf } from '#kernel/concurrency/turns.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { addressTabs } from '#web/pages/address.page.ts';
import { outputTypeOf, outputTypes, readOutputs } from './address-outputs.ts';

/** Maximum number of outputs in one response to `/address`. 100,000 outputs are 8 MB. ord has no maximum. */
const listedMax = 100_000;

const addressAnswer = Type.Object({
  inscriptions: Type.Array(Type.String()),
  outputs: Type.Optional(Type.Array(Type.String({ description: 'only with an index of addresses' }))),
  runes_balances: Type.Union(
    [
      Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()]), { minItems: 3, maxItems: 3 })),
      Type.Null(),
    ],
    { description: 'name, amount in units of the rune, and symbol; null: unknown' },
  ),
  sat_balance: Type.Optional(Type.Integer({ description: 'only with an index of addresses' })),
});

/** Routes of the contents of an address, in ord's form (docs/ord-api.md, docs/http.md). */
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
      querystring: Type.Object({
        tab: Type.Optional(
          Type.String({
            description: 'the list that the HTML page shows',
            acceptedForm: { enum: [...addressTabs] },
            examples: ['runes'],
          }),
        ),
        after: Type.Optional(
          Type.String({
            description: 'a place from a link of the HTML page; the rows after it are shown',
            acceptedForm: acceptedForms.cursor,
          }),
        ),
      }),
      response: { 200: pageOrJson(addressAnswer, 'its contents'), 304: unchanged },
    },
    config: { ...config, isDear: true },
    handler: async (request, reply) => {
      const { address } = request.params;
      const script = scriptOf(address, 'address', deps.network);
      if (!prefersJson(request.headers.accept))
        return sendAddressPage(deps, reply, { address, script, ...request.query });
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

/**
 * Reads and sends a response in parts, with other work in between, because an address can have a hundred thousand
 * outputs.
 */
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
  // leave out the fields that need an index of addresses, as on all paths (docs/ord-api.md)
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

/** The JSON of ord's `/address` in parts. Other fields come before and after the balances of runes. */
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

import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import {
  type AddressOutput,
  addressOutputs,
  allAddressOutputs,
  hasAddressIndex,
  inscribedOutputs,
  type OutputPosition,
  outpointBytes,
} from '#chain/outputs/address.queries.ts';
import { fingerprintKey, heldOutputs } from '#chain/outputs/output.queries.ts';
import { balancesMax, type RuneBalance, runesOfOutputs } from '#chain/runes/rune-balances.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { rangesMax, satRangesOf } from '#chain/sats/sat-ranges.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { held as heldIn, outputParts } from '#http/ord/outputs/outputs.ts';
import { pagingOf } from '#http/parameters/list-parameters.ts';
import type { JsonPart } from '#http/server/budgets/json-in-turns.ts';
import { fingerprintsOf } from '#indexer/transaction/outpoint-candidates.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

export const outputTypes = ['any', 'cardinal', 'inscribed', 'runic'] as const;
type OutputType = (typeof outputTypes)[number];

/** Maximum number of outputs in one response if the request has no limit. An output needs half a kilobyte. */
const outputsMax = 20_000;
/** Maximum number of inscriptions in one response. They need 7 MB. */
const inscriptionsMax = 100_000;
/** Maximum number of outputs whose contents are read together. */
const lookedUpAtOnce = 1_000;
/** Number of bytes of a cursor. It contains the height and the outpoint of the last listed output. */
const positionBytes = 4 + 36;

/** A request for the outputs of an address. */
interface OutputsQuestion {
  readonly address: string;
  readonly script: Uint8Array;
  readonly type: OutputType;
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

/** An output of the response, with its contents. */
export interface FilledOutput {
  readonly output: AddressOutput;
  readonly inscriptions: readonly InscriptionId[];
  readonly runes: readonly RuneBalance[] | null;
  readonly sats: readonly SatRange[] | null;
}

/** Numbers of inscriptions, balances and ranges that the rest of a response may contain. */
interface Room {
  inscriptions: number;
  balances: number;
  ranges: number;
}

/** Reads the type of outputs from a parameter. Throws `request_invalid`. */
export function outputTypeOf(text: string | undefined): OutputType {
  if (text === undefined) return 'any';
  const type = outputTypes.find((known) => known === text);
  if (type === undefined) {
    throw new AppError('request_invalid', `type must be one of ${outputTypes.join(', ')}`);
  }
  return type;
}

/**
 * Reads the outputs of an address, and returns their JSON in parts. Rows are read in parts, with other work in between.
 * Only data that the response shows is read.
 */
export async function readOutputs(
  { client, tip }: Snapshot,
  reply: FastifyReply,
  question: OutputsQuestion,
): Promise<Generator<JsonPart>> {
  const { type } = question;
  await requireRunesFor(client, type);
  const outputs = await listedOutputs(client, reply, question);
  await requireIndexes(client, ['locations_outpoint'], 'owners');
  const room: Room = { inscriptions: inscriptionsMax, balances: balancesMax, ranges: rangesMax };
  const filled: FilledOutput[] = [];
  for (let at = 0; at < outputs.length; at += lookedUpAtOnce) {
    if (at > 0) await nextTurn();
    filled.push(...(await filledOutputs(client, outputs.slice(at, at + lookedUpAtOnce), type, room)));
  }
  return outputsParts(question, tip, filled);
}

/** The outputs of a page with their contents. Throws `index_missing` during a first sync. */
export async function contentsOf(
  client: ClientBase,
  outputs: readonly AddressOutput[],
): Promise<readonly FilledOutput[]> {
  await requireIndexes(client, ['locations_outpoint'], 'owners');
  const room = { inscriptions: inscriptionsMax, balances: balancesMax, ranges: rangesMax };
  return filledOutputs(client, outputs, 'any', room);
}

/**
 * Throws if the type depends on runes and runes are unknown. Otherwise an output could be wrongly reported as free of
 * runes, and a wallet could spend it and lose the runes.
 */
async function requireRunesFor(client: ClientBase, type: OutputType): Promise<void> {
  if (type !== 'cardinal' && type !== 'runic') return;
  const { state } = await runeStanding(client);
  if (state === 'filling') await requireNotBehind(client, 'runes');
  if (state === 'known') return;
  const words =
    state === 'absent'
      ? 'this server has no index of runes'
      : 'runes are unknown, because blocks are missing';
  throw new AppError('request_invalid', `type ${type}: ${words}`);
}

/**
 * The outputs of the wanted type, with their contents. For other outputs, contents are read only until their type is
 * known.
 */
async function filledOutputs(
  client: ClientBase,
  outputs: readonly AddressOutput[],
  type: OutputType,
  room: Room,
): Promise<FilledOutput[]> {
  const runes = await runesOfOutputs(client, outputs, room.balances);
  const isRunic = (output: AddressOutput): boolean => (runes.of(output)?.length ?? 0) > 0;
  const wanted = outputs.filter(
    (output) => (type !== 'runic' || isRunic(output)) && (type !== 'cardinal' || !isRunic(output)),
  );
  const key = await fingerprintKey(client);
  const held =
    key === null ? null : await heldOutputs(client, wanted, fingerprintsOf(key, wanted), room.inscriptions);
  const inscribed = wanted.map((output, place) => ({
    output,
    inscriptions: held?.get(place)?.inscriptions ?? [],
  }));
  const shown = inscribed.filter(
    ({ inscriptions: { length } }) =>
      (type !== 'inscribed' || length > 0) && (type !== 'cardinal' || length === 0),
  );
  const sats = await satRangesOf(
    client,
    shown.map(({ output }) => output),
    room.ranges,
  );
  const filled = shown.map(({ output, inscriptions }) => ({
    output,
    inscriptions,
    runes: runes.of(output),
    sats: sats.of(output),
  }));
  for (const each of filled) {
    room.inscriptions -= each.inscriptions.length;
    room.balances -= each.runes?.length ?? 0;
    room.ranges -= each.sats?.length ?? 0;
  }
  return filled;
}

function* outputsParts(
  { address, script }: OutputsQuestion,
  tip: Tip | null,
  filled: readonly FilledOutput[],
): Generator<JsonPart> {
  let before = '[';
  for (const { output, inscriptions, runes, sats } of filled) {
    const shown = {
      outpoint: output,
      address,
      confirmations: (tip?.height ?? output.height) - output.height + 1,
      indexed: true,
      inscriptions,
      script,
      spent: false,
      value: output.value,
    };
    yield before;
    yield* outputParts(shown, heldIn(runes, sats));
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/**
 * The outputs that may be of the type, in ord's order. If there is a limit or a cursor, a page of all outputs, oldest
 * first. Without an index of addresses, only outputs with inscriptions are known, and there are no pages.
 */
async function listedOutputs(
  client: ClientBase,
  reply: FastifyReply,
  question: OutputsQuestion,
): Promise<readonly AddressOutput[]> {
  const { script, type, limit, cursor } = question;
  const isWhole = await hasAddressIndex(client);
  if (!isWhole && type !== 'inscribed') {
    throw new AppError(
      'not_found',
      'this server has no address index, so it only knows outputs of type=inscribed',
    );
  }
  if (isWhole && (limit !== undefined || cursor !== undefined)) return pageOfOutputs(client, reply, question);
  const list = { order: 'bytes', most: outputsMax } as const;
  if (type === 'inscribed') return inscribedOutputs(client, script, list, inscriptionsMax);
  const outputs: AddressOutput[] = [];
  for await (const part of allAddressOutputs(client, script, list)) outputs.push(...part);
  return outputs;
}

async function pageOfOutputs(
  client: ClientBase,
  reply: FastifyReply,
  { script, limit: limitText, cursor }: OutputsQuestion,
): Promise<AddressOutput[]> {
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
  // read signed integers, like the columns, because a client can make up a cursor, and the database must be able to
  // compare any value
  return {
    height: position.readInt32BE(),
    txid: asTxid(position.subarray(4, 36)),
    vout: position.readInt32LE(36),
  };
}

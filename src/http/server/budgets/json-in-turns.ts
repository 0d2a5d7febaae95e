import type { FastifyReply } from 'fastify';
import { nextTurn } from '#kernel/turns.ts';
import { askerOf } from '../asker.ts';
import { answerOfPieces, type PiecesOfAnswer } from './answer-pieces.ts';

/** Items of a list that are written in one turn of the event loop: some hundred kilobytes of small ones. */
const itemsATurn = 1_000;

/** Sends an answer as JSON. Its lists can be long: they are written in turns of the client. */
export async function sendJsonInTurns(reply: FastifyReply, answer: object): Promise<FastifyReply> {
  reply.type('application/json; charset=utf-8');
  const { client } = askerOf(reply);
  const made = await madeInTurns(jsonPieces(answer), client);
  return reply.send(made.pieces.length === 1 ? made.pieces[0] : answerOfPieces(made, client));
}

/** Pieces that are made before the answer is sent, in turns of a client: what they are made of is free then. */
export async function madeInTurns(
  pieces: Iterable<string> | AsyncIterable<string>,
  client: string,
): Promise<PiecesOfAnswer & { readonly pieces: readonly string[] }> {
  const made: string[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (made.length > 0) await nextTurn(client);
    made.push(piece);
    bytes += piece.length;
  }
  return { pieces: made, bytes };
}

/** The JSON of a value, with a piece for each part of a list that is in it or in one of its objects. */
export function* jsonPieces(value: unknown): Generator<string> {
  let text = '';
  for (const part of jsonParts(value)) {
    if (typeof part === 'string') {
      text += part;
    } else {
      yield text;
      text = '';
    }
  }
  yield text;
}

const endOfPiece = null;

function* jsonParts(value: unknown): Generator<string | typeof endOfPiece> {
  if (Array.isArray(value)) {
    yield '[';
    for (let at = 0; at < value.length; at += itemsATurn) {
      if (at > 0) yield endOfPiece;
      const items = JSON.stringify(value.slice(at, at + itemsATurn)).slice(1, -1);
      yield at === 0 ? items : `,${items}`;
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    let before = '{';
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonParts(field);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else {
    yield JSON.stringify(value);
  }
}

import type { FastifyReply } from 'fastify';
import { askerOf } from '#http/server/asker.ts';
import { answerOfPieces, textSlices } from '#http/server/budgets/answer-pieces.ts';
import { nextTurn } from '#kernel/turns.ts';

/** Characters of JSON made in one turn of the event loop, in about a millisecond. */
const turnChars = 256 * 1024;
/** So many results are made in one turn: hardly any have texts of more than some kB. */
const resultsAtOnce = 100;

/** An answer with results, in the order of its fields. */
interface ResultsAnswer {
  readonly results: readonly unknown[];
}

/**
 * Sends an answer as JSON. A large one, up to 20 MB, is made in several turns of the event loop and sent as its client
 * takes it.
 */
export async function sendResults<Answer extends ResultsAnswer>(
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  reply.type('application/json; charset=utf-8');
  if (isSmall(answer.results)) return reply.send(JSON.stringify(answer));
  const { client } = askerOf(reply);
  const pieces = await jsonPieces(answer, client);
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  reply.header(
    'content-length',
    pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0),
  );
  return reply.send(answerOfPieces({ pieces, bytes }, client));
}

/** Texts beyond this are made in parts. */
const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > turnChars;

const isSmall = (results: readonly unknown[]): boolean =>
  results.length <= resultsAtOnce && !results.some((result) => Object.values(result as object).some(isLong));

async function jsonPieces(answer: ResultsAnswer, client: string): Promise<string[]> {
  const pieces: string[] = [];
  let piece = '';
  for (const part of jsonParts(answer)) {
    piece += part;
    if (piece.length < turnChars) continue;
    pieces.push(piece);
    piece = '';
    await nextTurn(client);
  }
  pieces.push(piece);
  return pieces;
}

/** The JSON of an answer; no part is much longer than what is made in a turn. */
function* jsonParts(answer: ResultsAnswer): Generator<string> {
  let before = '{';
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (name !== 'results') {
      yield JSON.stringify(value);
      continue;
    }
    yield '[';
    for (const [place, result] of answer.results.entries()) {
      if (place > 0) yield ',';
      yield* resultParts(result as object);
    }
    yield ']';
  }
  yield '}';
}

function* resultParts(result: object): Generator<string> {
  const fields = Object.entries(result);
  if (!fields.some(([, value]) => isLong(value))) {
    yield JSON.stringify(result);
    return;
  }
  let before = '{';
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (!isLong(value)) {
      yield JSON.stringify(value);
      continue;
    }
    yield '"';
    for (const slice of textSlices(value, turnChars)) yield JSON.stringify(slice).slice(1, -1);
    yield '"';
  }
  yield '}';
}

import { charmNames } from '#kernel/primitives/charm.ts';

/** An inscription event in the form of an answer. Unknown fields are null (docs/events.md). */
export type InscriptionEvent =
  | {
      readonly type: 'inscription-created';
      readonly inscriptionId: string;
      readonly sequence: number | null;
      readonly number: number | null;
      readonly charms: readonly string[] | null;
      /**
       * A location `<txid>:<vout>:<offset>`. It is the null outpoint if the inscription is lost, `unbound` if it is
       * unbound, and null if unknown.
       */
      readonly location: string | null;
      readonly parents: readonly string[] | null;
    }
  | {
      readonly type: 'inscription-transferred';
      readonly inscriptionId: string;
      readonly sequence: number | null;
      readonly oldLocation: string | null;
      readonly newLocation: string | null;
    };

/** An event of any kind. It has a type, and other fields. */
export interface ParsedEvent {
  readonly type: string;
}

const newline = 0x0a;

/**
 * The events of a canonical text, starting at an index, with their indexes. As in an event's id, the first event has
 * index 1. Reads only texts that this program wrote. Throws a RangeError if a text ends within a line, and the errors
 * of `parseLine`.
 */
export function* parseEventText<Event>(
  text: Buffer,
  fromIndex: number,
  parseLine: (line: string) => Event,
): Generator<[number, Event]> {
  let start = 0;
  for (let index = 0; start < text.length; index++) {
    const end = text.indexOf(newline, start);
    if (end < 0) throw new RangeError('a canonical text ends within a line');
    if (index > 0 && index >= fromIndex) yield [index, parseLine(text.toString('latin1', start, end))];
    start = end + 1;
  }
}

/** Parses a line of a text of inscriptions. Throws a RangeError if the line is not of this version. */
export function parseInscriptionLine(line: string): InscriptionEvent {
  const [type, ...words] = line.split(' ');
  if (type === 'created' && words.length === 6) return parseCreated(words as CreatedWords);
  if (type === 'transferred' && words.length === 4) return parseTransferred(words as TransferredWords);
  throw new RangeError(`no event: ${line}`);
}

type CreatedWords = [
  id: string,
  sequence: string,
  number: string,
  charms: string,
  location: string,
  parents: string,
];
type TransferredWords = [id: string, sequence: string, oldLocation: string, newLocation: string];

function parseCreated([
  inscriptionId,
  sequence,
  number,
  charms,
  location,
  parents,
]: CreatedWords): InscriptionEvent {
  const bits = numberOrNull(charms);
  return {
    type: 'inscription-created',
    inscriptionId,
    sequence: numberOrNull(sequence),
    number: numberOrNull(number),
    charms: bits === null ? null : charmNames(bits),
    location: locationOf(location),
    parents: parents === '?' ? null : parents === '-' ? [] : parents.split(','),
  };
}

function parseTransferred([inscriptionId, sequence, before, after]: TransferredWords): InscriptionEvent {
  return {
    type: 'inscription-transferred',
    inscriptionId,
    sequence: numberOrNull(sequence),
    oldLocation: locationOf(before),
    newLocation: locationOf(after),
  };
}

function numberOrNull(word: string): number | null {
  return word === '?' ? null : Number(word);
}

function locationOf(word: string): string | null {
  if (word === '?') return null;
  return word === '-' ? 'unbound' : word;
}
